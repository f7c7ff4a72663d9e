"""The pictures of topic 16 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.data import beings
from course.reference.bert import Bert, nf4_levels

pictures = show.bert


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def figures():
    W = torch.randn(30, 64, generator=torch.Generator().manual_seed(0))
    return [
        pictures.accuracy_by_labels([4, 50], {"read first": [0.8, 1.0], "fresh": [0.5, 0.45]}),
        pictures.levels(W, nf4_levels()),
        pictures.nats_by_bits({"normal": {4: 3.45, 2: 21.9}, "even": {4: 3.72, 2: 15.5}}, 3.24, 10.8),
    ]


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    for figure in figures():
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") and axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)


def test_a_line_for_each_model_and_one_for_guessing():
    (axes,) = figures()[0].axes
    assert [list(line.get_ydata()) for line in axes.lines] == [[80, 100], [50, 45], [50, 50]]
    assert "read first 80% with 4, 100% with 50" in figures()[0].get_label()


def test_sixteen_lines_stand_at_the_levels():
    (axes,) = figures()[1].axes
    (lines,) = axes.collections
    assert [segment[0][0] for segment in lines.get_segments()] == pytest.approx(nf4_levels().tolist())
    assert sum(bar.get_height() for bar in axes.patches) == 30 * 64


def test_a_line_for_each_kind_of_levels_beside_guessing_and_the_loss_before():
    (axes,) = figures()[2].axes
    normal, even, guessing, before = (list(line.get_ydata()) for line in axes.lines)
    assert (normal, even, guessing, before) == ([3.45, 21.9], [3.72, 15.5], [10.8, 10.8], [3.24, 3.24])
    assert "normal levels" in labels(figures()[2]) and "even levels, 3.72 with 4 bits" in figures()[2].get_label()


@pytest.fixture
def guesser():
    torch.manual_seed(0)
    return pictures.guesser(Bert(len(beings.words()), 12, 2, 17, 1).eval())


def test_a_chosen_sentence_is_typed_and_drawn(guesser):
    chosen, typed, picture, said = guesser.children
    before = picture.value
    chosen.value = pictures.SENTENCES[3]
    assert typed.value == "the fox _ near a _ ." and picture.value != before
    assert "For hidden word 2" in said.value


def test_the_truth_about_a_growling_noun_is_told(guesser):
    guesser.children[1].value = "the _ growls ."
    assert "the language 99%" in guesser.children[3].value  # only animals growl, but "growls" may be a false word
    guesser.children[1].value = "the _ waits"
    assert "the language 50%" in guesser.children[3].value


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("the dragon _ .", "&#x27;dragon&#x27; is not in the vocabulary"),
        ("the fox growls .", "Write _ for each hidden word"),
        ("_ _ _ _ .", "at most 3"),
        ("", "Write _ for each hidden word"),
        ("the _ " * 8, "Write _ for each"),
        ("the fox " * 7 + "_", "too long"),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(guesser, typed, told):
    guesser.children[1].value = typed
    assert told in guesser.children[3].value
