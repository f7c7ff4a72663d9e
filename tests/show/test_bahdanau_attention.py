"""The pictures of topic 05 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import torch

from course import show
from course.data import dates
from course.reference.bahdanau_attention import AttentionSeq2Seq

pictures = show.bahdanau_attention
TEXT = "4 juillet 1999"
GOLD = [2, 2, 2, 2, 1, 1, 0, 0]


class Knowing:
    """Writes 1999-07-04 whatever it reads, and looks at the first letter of the right word."""

    def decode_greedy(self, src, src_lengths, max_len):
        weights = torch.zeros(1, 11, src.shape[1])
        starts = {0: 10, 1: 10, 2: 10, 3: 10, 5: 2, 6: 2, 8: 0, 9: 0}
        for place in range(11):
            weights[0, place, min(starts.get(place, 0), src.shape[1] - 1)] = 1.0
        return dates.target_ids("1999-07-04")[None], weights


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description():
    written, weights = pictures.decoded(Knowing(), TEXT)
    line = torch.linspace(0, 1, 9)
    figures = [
        pictures.two_ways(),
        pictures.score_gap(line, {"with": line, "without": 1 + 0 * line}),
        pictures.alignment(weights, TEXT, written, GOLD, "one"),
        pictures.alignments([(weights, TEXT, written, GOLD), (weights, TEXT, written, None)]),
        pictures.exact_by_length([1, 2, 3], {"with": [1.0, 1.0, 0.9], "without": [1.0, 0.5, 0.0]}, trained=2),
        pictures.errors_by_digit([0.1] * 8),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 50
    assert "without: 100 % of the shortest, 50 % at 2 digits" in figures[4].get_label()


def test_an_alignment_shows_every_character_and_frames_the_gold_words():
    written, weights = pictures.decoded(Knowing(), TEXT)
    assert written == "1999-07-04."
    figure = pictures.alignment(weights, TEXT, written, GOLD)
    axes, bar = figure.axes
    assert bar.get_ylabel() == "weight"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == list(TEXT.replace(" ", "␣"))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == list(written)
    assert len(axes.patches) == 8
    frame = axes.patches[4]  # the month's first digit
    assert (frame.get_x(), frame.get_width(), frame.get_y()) == (1.5, 7, 4.5)
    assert "0 at juillet" in figure.get_label() and "1 at 1999" in figure.get_label()


def test_a_step_says_what_is_written_and_where_it_looks():
    written, weights = pictures.decoded(Knowing(), TEXT)
    assert pictures.describe_step(TEXT, written, weights, 5) == "Step 6 writes “0” and looks at “juillet” 100 %."
    assert "the end" in pictures.describe_step(TEXT, written, weights, 10)
    assert "looks at nothing" in pictures.describe_step(TEXT, written, 0 * weights, 1)


def test_the_widget_follows_its_slider_and_takes_dates_of_ones_own():
    widget = pictures.step_the_decoder(Knowing())
    example, typed, steps, picture, spoken = widget.children
    assert [part.description for part in (example, typed, steps)] == ["Example", "Date", "Step"]
    before, sentence = bytes(picture.value), spoken.value
    assert before.startswith(b"\x89PNG") and steps.max == 11
    steps.value = 9
    assert bytes(picture.value) != before and spoken.value != sentence
    typed.value = "<b>4 May</b>"
    assert "<b>" not in spoken.value and "reads only" not in spoken.value
    assert "never met “&lt;”, “&gt;”." in spoken.value
    typed.value = "4 May, " * 9
    assert "reads only the first 60 characters." in spoken.value
    example.value = pictures.EXAMPLES["German"]
    assert typed.value == "04.07.99" and "04" in spoken.value


def test_no_example_is_chosen_while_another_text_is_typed_and_nothing_stays_of_an_old_answer():
    example, typed, _, picture, spoken = pictures.step_the_decoder(Knowing()).children
    assert example.value == typed.value and typed.continuous_update
    filled = bytes(picture.value)
    typed.value = "04.07.9"
    assert example.value is None
    typed.value = " "
    assert bytes(picture.value) != filled
    assert spoken.value == "Type a date, or choose an example."
    typed.value = pictures.EXAMPLES["German"]
    assert example.value == "04.07.99" and "never met" not in spoken.value


def test_any_model_can_be_stepped_even_one_that_never_ends():
    torch.manual_seed(0)
    model = AttentionSeq2Seq(dates.SOURCES, dates.TARGETS, 8, 8, 5)
    written, weights = pictures.decoded(model, "4 июля 1999")
    assert weights.shape == (len(written), 11)
    steps = pictures.step_the_decoder(model).children[2]
    steps.value = steps.max


def test_a_model_that_ends_at_once_leaves_something_to_show():
    class Silent:
        def decode_greedy(self, src, src_lengths, max_len):
            return torch.tensor([[dates.EOS]]), torch.full((1, 1, src.shape[1]), 1 / src.shape[1])

    assert pictures.decoded(Silent(), TEXT)[0] == "."
    assert "the end" in pictures.step_the_decoder(Silent()).children[4].value
