"""The pictures of topic 15 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.data import wordnet
from course.reference.gpt import GPT, next_token

pictures = show.gpt


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def figures():
    return [
        pictures.shares({"small": {"attention": 1, "feed-forward": 3}, "large": {"attention": 1, "feed-forward": 1}}),
        pictures.surnames([0.06, 0.4, 0.5], [0.4, 0.4, 0.3], guess=1 / 16),
        pictures.scaling(
            torch.tensor([1e3, 1e4, 1e5]), torch.tensor([3.0, 2.6, 2.4]), {"E": 2.2, "A": 9.0, "alpha": 0.35}, 2.1
        ),
    ]


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    for figure in figures():
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") and axes.get_xlabel() for axes in figure.axes)


def test_right_surnames_stand_beside_those_of_the_other_person():
    (axes,) = figures()[1].axes
    assert [bar.get_height() for bar in axes.patches] == [0.06, 0.4, 0.5, 0.4, 0.4, 0.3]
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"right", "the other's", "guessing"}


def test_each_layer_shows_the_head_that_takes_its_step_most():
    before, behind = torch.zeros(2, 3, 4, 4).unbind()
    before[1, 3, 2] = before[0, 2, 1] = 0.6
    behind[2, 3, 1], behind[0, 3, 2] = 0.7, 0.9
    figure = pictures.two_heads([before, behind], ["Ada", "Hill:", "Ada", "Reed:"], [[(3, 2), (1, 0)], [(3, 1)]])
    assert [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes] == [
        "layer 1, head 2: 0.30 where framed",
        "layer 2, head 3: 0.70 where framed",
    ]
    assert torch.equal(torch.as_tensor(figure.axes[1].images[0].get_array().data), behind[2])
    assert [len(axes.patches) for axes in figure.axes] == [2, 1] and "head 3 puts 0.70" in figure.get_label()


def test_bars_are_shares_of_each_model():
    widths = [bar.get_width() for bar in figures()[0].axes[0].patches]
    assert widths == pytest.approx([25, 50, 75, 50])
    assert "50%" in figures()[0].get_label()


def test_the_law_is_drawn_with_its_floor_and_the_entropy():
    left, right = figures()[2].axes
    said = labels(figures()[2])
    assert "E = 2.20" in said and "entropy 2.10" in said
    assert list(right.lines[0].get_ydata()) == pytest.approx([0.8, 0.4, 0.2], rel=1e-5)
    curve = left.lines[0]
    assert curve.get_ydata()[-1] == pytest.approx(2.2 + 9.0 / curve.get_xdata()[-1] ** 0.35)


def test_runs_that_the_law_predicts_are_hollow():
    N, losses = torch.tensor([1e3, 3e3, 1e4, 1e5]), torch.tensor([3.0, 2.7, 2.6, 2.4])
    left, _ = pictures.scaling(N, losses, {"E": 2.2, "A": 9.0, "alpha": 0.35}, 2.1, fitted=3).axes
    dots = {line.get_label(): line for line in left.lines if line.get_marker() == "o"}
    assert [len(dots[name].get_xdata()) for name in ("measured", "measured, and predicted")] == [3, 1]
    assert [dots[name].get_markerfacecolor() for name in dots] == [dots["measured"].get_color(), "none"]


@pytest.fixture
def sampler():
    torch.manual_seed(0)
    asked = []

    def noted(logits, **how):
        asked.append(how)
        return next_token(logits, **how)

    return pictures.sampler(GPT(**wordnet.SIZES), noted), asked


def test_the_widget_hands_its_settings_to_the_students_function(sampler):
    widget, asked = sampler
    _, sliders, _, said = widget.children
    temperature, top_k, top_p = sliders.children
    top_k.value = 1
    assert asked[-1]["top_k"] == 1 and "The draws name 1 token." in said.value and "100%" in said.value
    temperature.value, top_p.value = 0.5, 0.3
    assert (asked[-1]["temperature"], asked[-1]["top_p"]) == (0.5, 0.3)


def test_the_cache_grows_with_the_text(sampler):
    widget, _ = sampler
    text, _, _, said = widget.children
    text.value = "blorbel"
    tokens = len(wordnet.encode("blorbel")) + 1
    kilobytes = tokens * 2 * 4 * 2 * 40 * 4 / 1000
    assert f"For {tokens} tokens the cache holds {kilobytes:,.0f} kB" in said.value


def test_any_text_may_be_typed(sampler):
    widget, _ = sampler
    for typed in ("", "né 🎉", " " * 40, "a" * 300):
        widget.children[0].value = typed
        assert "likeliest token" in widget.children[3].value
    widget.children[0].value = ""
    assert "For 1 token the cache holds 3 kB" in widget.children[3].value
