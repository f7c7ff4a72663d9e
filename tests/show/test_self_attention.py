"""The pictures of topic 06 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.reference.self_attention import attention_cost, crossover_length, scaled_dot_product_attention

pictures = show.self_attention


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    figures = [
        pictures.memory([0.1, 0.2, 1.0]),
        pictures.scores_by_width(
            [4, 16], {"raw": [4, 16], "scaled": [1, 1]}, {"raw": [0.5, 1], "scaled": [0.3, 0.3]}, 10
        ),
        pictures.attention_map(torch.eye(2), ["a?", "b?"], ["a1", "b2"], "Who looks where"),
        pictures.costs(attention_cost, crossover_length, d=64),
        pictures.recall([1, 8], {"self-attention": [1.0, 1.0], "RNN": [0.9, 0.3]}, trained_on=8),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") or axes.get_xlabel() for axes in figure.axes)
    assert "n = 128" in labels(figures[3])
    assert "trained on 8 pairs" in labels(figures[4])


def test_the_cost_figure_draws_the_functions_it_is_given():
    figure = pictures.costs(lambda n, d: {"self_attention": 7 * n, "recurrent": 3 * d}, lambda d: 30.0, d=512)
    by_table, _, _, meeting = figure.axes[0].lines
    assert list(by_table.get_ydata()) == [7 * n / (3 * 512) for n in by_table.get_xdata()]
    assert set(meeting.get_xdata()) == {30.0}


def test_the_cost_figure_counts_whole_layers():
    whole = pictures.costs(attention_cost, crossover_length, d=512).axes[0].lines[1]
    ratios = dict(zip(whole.get_xdata(), whole.get_ydata(), strict=True))
    assert ratios[crossover_length(512)] == 1.0 and ratios[16] == pytest.approx(12.0625 / 16)


def test_no_length_below_zero_is_drawn():
    assert len(pictures.costs(attention_cost, lambda d: -2.0 * d).axes[0].lines) == 3


def test_the_map_shows_the_weights_as_numbers():
    assert "0.25" in labels(pictures.attention_map(torch.tensor([[0.25, 0.75]]), ["a?"], ["a1", "b2"]))


def sliders_of(playground):
    return [slider for column in playground.children[1].children for slider in column.children]


def test_the_playground_follows_its_sliders():
    playground = pictures.playground(scaled_dot_product_attention)
    words, again = playground.children[0].children
    picture, sentence = playground.children[2:]
    sliders = sliders_of(playground)
    assert [slider.description for slider in sliders] == ["query x", "query y", "key x", "key y", "value x", "value y"]
    before, said = bytes(picture.value), sentence.value
    assert before.startswith(b"\x89PNG") and "“her” looks at: Ada" in said

    sliders[0].value = -3.0
    assert bytes(picture.value) != before and sentence.value != said
    words.value = 3
    assert "“cat” looks at" in sentence.value and sliders[0].value == pytest.approx(-0.5)
    words.value = 2
    assert sliders[0].value == pytest.approx(-3.0), "a word keeps what was set for it"
    again.click()
    assert bytes(picture.value) == before and sentence.value == said


def test_two_playgrounds_are_independent():
    first, second = (pictures.playground(scaled_dot_product_attention) for _ in range(2))
    sliders_of(first)[0].value = -3.0
    assert sliders_of(second)[0].value != -3.0
    assert "Ada" in pictures.playground(scaled_dot_product_attention).children[3].value


def test_the_playground_uses_the_students_function():
    calls = []

    def uniform(q, k, v):
        calls.append(q.shape)
        return v.mean(1, keepdim=True).expand_as(v), torch.full((1, 4, 4), 0.25)

    playground = pictures.playground(uniform)
    assert calls and "Ada 25%" in playground.children[3].value
