"""Edge cases are fixed inputs: wrong answers that only they detect fail at every seed, and right ones always pass."""

from __future__ import annotations

import pytest

from course.exercise.wire import pack
from tests.hidden.answers import answers
from tests.hidden.judged import points_for, verdict_on
from tests.original import find, find_item, points_of

SEEDS = (3, 42)
TOLD_BY = [
    ("merge_pair", "replaced_between_blanks", "a piece that ends as the pair begins"),
    ("merge_pair", "by_a_regular_expression", "pieces that hold any byte"),
    ("merge_pair", "a_list", "three of a kind"),
    ("train_bpe", "no_overlaps", "pairs that overlap"),
    ("train_bpe", "text_stripped", "capitals, and white space at both ends"),
    ("train_bpe", "in_small_letters", "capitals, and white space at both ends"),
    ("bpe_encode", "any_pair_that_makes_a_known_piece", "a piece that could be made in two ways"),
    ("bpe_encode", "text_stripped", "capitals, and white space at both ends"),
    ("bpe_decode", "stripped", "white space at both ends"),
    ("bpe_decode", "line_ends_changed", "white space at both ends"),
    ("bpe_decode", "mark_at_the_beginning_lost", "characters that look like nothing, or like others"),
    ("bpe_decode", "accents_joined", "characters that look like nothing, or like others"),
    ("wordpiece_encode", "long_words_unknown", "a word of 230 letters"),
    ("wordpiece_encode", "mark_read_as_letters", "pieces made of the mark"),
    ("skip_gram_loss", "noise_that_is_the_context_left_out", "a batch of one, its context among the noise"),
    ("eliza", "spaces_joined", "spaces and signs stay"),
    ("receptive_field", "gaps_left_out", "inputs that no tap meets"),
]


def answer_called(name, called):
    """Return the wrong answer of this name, which is a misconception or a mutant."""
    mutants = {mutant.__name__: mutant for mutant in answers("mutants", find_item(name)[0], name)}
    return mutants.get(called) or next(one.wrong for one in find(name).misconceptions if one.name == called)


@pytest.mark.parametrize(("name", "called", "title"), TOLD_BY, ids=[f"{name}-{called}" for name, called, _ in TOLD_BY])
def test_a_fixed_input_tells_it(name, called, title):
    for seed in SEEDS:
        verdict = verdict_on(name, answer_called(name, called), seed)
        assert title in [case.title for case in verdict.cases if not case.passed]


@pytest.mark.parametrize(("name", "title"), sorted({(name, title) for name, _, title in TOLD_BY}))
def test_the_input_is_the_same_at_every_seed(name, title):
    asked = (next(case for case in find(name).cases(seed) if case.title == title) for seed in SEEDS)
    one, other = (pack([step.to_plain() for step in case.steps]) for case in asked)
    assert one == other


@pytest.mark.parametrize("seed", [5, 6, 7, 8])
def test_equally_good_paths_get_full_marks(seed):
    for answer in answers("alternatives", find_item("viterbi")[0], "viterbi"):
        assert points_for("viterbi", answer, seed) == points_of("viterbi"), answer.__name__


@pytest.mark.parametrize("made", [dict, lambda counts: counts])
def test_counts_of_pairs_may_be_a_dict_or_a_counter(made):
    count = find("count_pairs").reference
    assert verdict_on("count_pairs", lambda words: made(count(words)), 3).kind == "passed"
