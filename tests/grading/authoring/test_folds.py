"""Below a prediction, the text that gives its answer is folded until the student opens it."""

from __future__ import annotations

import re

import jupytext
import pytest

from course.grading.course_folder import source_path
from course.syllabus import OURS
from tests.clone import ROOT
from tests.original import find_topic

SUMMARY = "<details><summary>What does it show, and why? Run the cell above, then open this.</summary>"
FOLD = re.compile(r"^<details>.*?^</details>$", re.M | re.S)

ANSWERS = {
    "perplexity_with_unseen_pairs": "perplexity of the matrix is infinite",
    "longer_windows_on_both_texts": "falls at first and then rises",
    "similarity_of_two_bags": "so their similarity is 0",
    "window_that_finds_classes": "One word on either side does as well as two",
    "own_tokens_in_training": "The second writer does worse",
    "accuracy_beyond_training_lengths": "falls back to the level of a coin",
    "half_open_gate_after_ten_steps": "loses all but a thousandth in ten steps",
    "gradient_with_forget_bias_zero": "the LSTM's gradient vanishes too",
    "query_without_tanh": "Without the tanh, the query cancels",
    "digits_beyond_training": "at 16 it is close to zero",
    "scores_without_scaling": "one key in ten gets nearly all the weight",
    "score_products_of_eight_heads": "Neither of the last two columns changes",
    "questions_one_wide_head_answers": "One head learns one of the questions",
    "size_of_word_times_position": "it is 3 % of the first bar",
    "accuracy_beyond_trained_length": "at position 60 three back is still three back",
    "padding_under_a_causal_mask": "the outputs no longer depend on the batch",
    "loss_without_a_causal_mask": "falls through the floor",
    "best_lead_under_smoothing": "there is a best lead, near 8",
    "recurrent_layer_on_one_thread": "several times faster with the Transformer's layer",
    "digits_without_positions": "recognises about nine digits in ten",
    "vit_or_linear_model": "the linear model is far ahead",
    "gradients_with_both_factors_zero": "With both at zero neither ever moves",
    "accuracy_of_biases_and_rank_one": "already goes most of the way",
    "perplexity_of_longer_pieces": "The perplexity rises",
    "mean_over_the_noise": "log 5 = 1.61$ too high",
    "best_state_of_each_place": "after an s no d can follow",
    "likeliest_of_four_at_half_the_temperature": "the first token has 0.685",
    "four_bits_beside_an_outlier": "few are left for the first",
    "steps_that_never_change": "With a constant step, the state fades",
    "true_reward_as_beta_falls": "rises, turns and falls far below zero",
}
"""What a notebook's text says to each prediction that it answers. Numbers alone answer the others."""

PREDICTED = [(topic.folder, name) for topic in OURS for name in topic.predictions if name in ANSWERS]


def _markdown_below(folder: str, name: str) -> str:
    """All the text of a notebook below a prediction."""
    cells = jupytext.read(source_path(ROOT, find_topic(folder))).cells
    at = next(index for index, cell in enumerate(cells) if cell.source == f'predict("{name}")')
    return "\n\n".join(cell.source for cell in cells[at:] if cell.cell_type == "markdown")


def test_every_answer_belongs_to_a_prediction() -> None:
    assert {name for _, name in PREDICTED} == ANSWERS.keys()


@pytest.mark.parametrize(("folder", "name"), PREDICTED)
def test_the_answer_to_a_prediction_is_folded(folder: str, name: str) -> None:
    text = re.sub(r"\\log", "log", _markdown_below(folder, name))
    assert ANSWERS[name] in " ".join(text.split())
    assert ANSWERS[name] not in " ".join(FOLD.sub("", text).split())


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_a_fold_is_whole_and_holds_markdown(topic) -> None:
    """Without an empty line below its first line and above its last, Jupyter would take the Markdown for HTML."""
    cells = [cell.source for cell in jupytext.read(source_path(ROOT, topic)).cells if cell.cell_type == "markdown"]
    for text in (one for one in cells if "details>" in one):
        assert text.count("<details>") == text.count(f"{SUMMARY}\n\n") == text.count("\n\n</details>")
        assert not re.search(r"^#", "".join(FOLD.findall(text)), re.M), "a heading would be missing from the contents"
