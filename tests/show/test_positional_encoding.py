"""The pictures of topic 08 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import math

import matplotlib
import pytest
import torch

from course import show
from course.reference.positional_encoding import alibi_bias, order_properties, rope, sinusoidal

pictures = show.positional_encoding


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description_and_says_what_it_shows():
    found = {"clocks": order_properties(sinusoidal, 23, 4)}
    curves = {"RoPE": [1.0, 0.9], "none": [0.2, 0.1]}
    figures = [
        pictures.clocks(sinusoidal, [0, 1, 10], 8),
        pictures.heat_map(sinusoidal(16, 8)),
        pictures.dot_products(sinusoidal(32, 16), [4, 20]),
        pictures.properties(found),
        pictures.score_maps({"added": torch.randn(9, 9), "RoPE": torch.randn(9, 9)}),
        pictures.alibi_weights(alibi_bias(4, 11)),
        pictures.accuracy_by_length(curves, [16, 32], trained_on=16),
        pictures.attention_maps({"RoPE": torch.eye(9), "none": torch.ones(9, 9) / 9}, trained_on=4),
        pictures.four_products([4, 64], {"word · word": [4.0, 64.0], "word · position": [1.5, 6.4]}),
    ]
    assert all(len(figure.get_label()) > 20 and len(labels(figure)) > 10 for figure in figures)
    assert "t = 10" in labels(figures[0]) and "any length" in labels(figures[3]) and "head 4" in labels(figures[5])
    assert "At 32 letters: RoPE 90%, none 10%" in figures[6].get_label()
    assert "At D = 64: word · word 1.00, word · position 0.10" in figures[8].get_label()
    assert "clocks: unique, bounded, deterministic, any_length, relative" in figures[3].get_label()


def test_learned_tables_are_shown_whatever_their_type():
    learned = torch.nn.Parameter(torch.randn(16, 8, dtype=torch.bfloat16))
    assert "16 position vectors" in pictures.heat_map(learned).get_label()
    pictures.explorer(lambda n, d: torch.nn.Parameter(sinusoidal(n, d).bfloat16()))


def test_wavelengths_are_read_off_the_function_that_is_given():
    turns = pictures.wavelengths(sinusoidal, 8)
    assert turns == pytest.approx([2 * math.pi * 10**i for i in range(4)], rel=1e-3)
    slower = pictures.wavelengths(lambda n, d: sinusoidal(n, d).double() if n < 2 else sinusoidal(2 * n, d)[::2], 8)
    assert slower == pytest.approx([turn / 2 for turn in turns], rel=1e-3)


def test_the_explorer_follows_its_sliders():
    explorer = pictures.explorer(sinusoidal)
    controls, picture, sentence = explorer.children
    n, width, position = controls.children
    assert [slider.description for slider in (n, width, position)] == ["positions", "width D", "position t"]
    assert bytes(picture.value).startswith(b"\x89PNG") and "64 positions, 32 dimensions" in sentence.value
    before = bytes(picture.value)
    width.value = 2
    assert bytes(picture.value) != before and "64 positions, 2 dimensions" in sentence.value
    position.value = 63
    n.value = 16
    assert position.value == 15 and "Position 15" in sentence.value


def test_the_explorer_draws_the_students_function():
    calls = []

    def constant(n, d):
        calls.append((n, d))
        return torch.ones(n, d)

    assert "64 positions" in pictures.explorer(constant).children[2].value and (64, 32) in calls


def test_turning_pairs_show_a_score_that_depends_on_the_distance_alone():
    widget = pictures.turning_pairs(rope)
    controls, picture, sentence = widget.children
    position, distance = controls.children

    def score() -> str:
        return sentence.value.split("The score is")[1]

    before, shown = score(), bytes(picture.value)
    assert "2.56" in before and "Query at 15, key at 10" in sentence.value
    position.value = 41
    assert score() == before and bytes(picture.value) != shown
    distance.value = 3
    assert "4.00" in score()


def test_turning_pairs_draw_the_students_function():
    added = pictures.turning_pairs(lambda x, positions: x + positions[:, None])
    sentence, (position, _) = added.children[2], added.children[0].children
    before = sentence.value.split("The score is")[1]
    position.value = 41
    assert sentence.value.split("The score is")[1] != before
