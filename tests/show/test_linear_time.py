"""The pictures of topic 17 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.data import copying
from course.reference.linear_time import Copier, SelectiveLayer, selective_scan

pictures = show.linear_time


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def figures():
    took = {"attention": [10.0, 100.0], "scan": [5.0, 5.0]}
    return [
        pictures.lengths((32, 64, 128), {"yours": [1.0, 0.9, 0.5], "another": [0.8, 0.6, 0.2]}, trained=64),
        pictures.steps_by_token(torch.linspace(0.1, 1.2, copying.TOKENS)),
        pictures.costs((64, 128), took, {"attention": [1000, 2000], "scan": [64, 64]}),
    ]


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    for figure in figures():
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") and axes.get_xlabel() for axes in figure.axes)


def test_each_model_has_a_curve_in_percent():
    axes = figures()[0].axes[0]
    assert list(axes.lines[0].get_ydata()) == pytest.approx([100, 90, 50])
    assert "yours 100% to 50%; another 80% to 20%" in figures()[0].get_label()


def test_bars_of_one_kind_have_one_colour():
    bars = [bar.get_facecolor() for bar in figures()[1].axes[0].patches]
    assert len(bars) == copying.TOKENS and len({bars[0]}) == 1
    assert len(set(bars[1:9])) == 1 and len(set(bars[9:])) == 1 and len(set(bars)) == 3
    assert "noise 0.10, letter 0.55, asker 1.10" in figures()[1].get_label()


def test_costs_are_told():
    assert "attention 10 to 100 microseconds and 2,000 bytes" in figures()[2].get_label()


@pytest.fixture
def memory():
    torch.manual_seed(0)
    read = []

    def noted(x, delta, A, B, C):
        read.append(C)
        return selective_scan(x, delta, A, B, C)

    model = Copier(copying.TOKENS, len(copying.LETTERS), copying.ASKED, SelectiveLayer(32, 4)).eval()
    return pictures.watch_the_state(model, noted), read


def test_the_widget_has_the_students_scan_read_one_number_of_the_state(memory):
    widget, read = memory
    row, _, said = widget.children
    text, noise, state = row.children
    assert said.value.startswith("In the text: c a h. The model says:")
    state.value = 2
    assert (read[-1] == torch.tensor([0.0, 0, 1, 0])).all()
    text.value, noise.value = "ab", 5
    assert read[-1].shape == (1, 2 * 6 + copying.ASKED, 4) and "In the text: a b." in said.value


def test_any_text_may_be_typed(memory):
    widget, read = memory
    text, _, _ = widget.children[0].children
    for typed in ("", "né 🎉", "abcdefgh", "x" * 500):
        text.value = typed
        assert "Mean Δ" in widget.children[2].value
    assert read[-1].shape[1] <= pictures.LONGEST + copying.ASKED
