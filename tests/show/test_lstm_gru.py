"""The pictures of topic 04 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import math

import matplotlib
import pytest
import torch

from course import show
from course.reference.lstm_gru import lstm_cell
from course.reference.rnn import rnn_cell

pictures = show.lstm_gru


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description():
    figures = [pictures.lstm_step(), pictures.tape(lstm_cell), pictures.tape(lstm_cell, pictures.attentive(), 3)]
    for figure in figures:
        assert len(figure.get_label()) > 60
    assert all(word in labels(figures[1]) for word in pictures.WORDS)
    assert [axes.get_ylabel() for axes in figures[1].axes] == ["open", "cell $c$", "value"]


def test_half_open_gates_forget_and_attentive_ones_do_not():
    assert pictures.tape_in_words(lstm_cell, pictures.half_open()).count("too faint") == 2
    assert pictures.tape_in_words(lstm_cell, pictures.attentive()).count("clear") == 2
    listening = pictures.half_open()
    for gate in "ifo":
        for place in pictures.ASKED:
            listening[gate][place] = listening[gate][place - 1] = 1.0
    assert "clear" not in pictures.tape_in_words(lstm_cell, listening), (
        "the name has to be kept, the pronoun does not tell"
    )
    cells, outputs = pictures.run_tape(lstm_cell, {"i": [1.0] * 13, "f": [0.0] * 13, "o": [1.0] * 13})
    for cell, output, candidate in zip(cells, outputs, pictures.CANDIDATES, strict=True):
        assert cell == pytest.approx(candidate, abs=1e-4) and output == pytest.approx(math.tanh(candidate), abs=1e-4)


def test_the_tape_is_computed_by_the_students_cell():
    def stubborn(x, h, c, W, U, b):
        return h + 0.5, c - 0.25

    cells, outputs = pictures.run_tape(stubborn, pictures.half_open())
    assert cells[:2] == [-0.25, -0.5] and outputs[0] == 0.5
    assert "The sign is wrong" in pictures.tape_in_words(stubborn, pictures.half_open())


def test_the_way_back_is_the_product_of_the_slopes():
    W = torch.diag(torch.tensor([0.5, 0.5, 0.5])).double()
    zero = torch.zeros(3, 3).double()
    left = pictures.way_back(
        lambda x, h: rnn_cell(x, h, zero, W, zero[0]), torch.zeros(2, 3).double(), torch.randn(2, 6, 3).double()
    )
    assert left == pytest.approx([0.5**t for t in range(1, 7)])


def parts(widget):
    words, sliders, buttons, picture, spoken = widget.children
    return words, sliders.children, buttons.children, picture, spoken


def test_the_widget_follows_its_sliders_and_keeps_what_was_set_for_a_word():
    words, sliders, buttons, picture, spoken = parts(pictures.write_the_tape(lstm_cell))
    assert [slider.description for slider in sliders] == ["Input i", "Forget f", "Output o"]
    before, sentence = bytes(picture.value), spoken.value
    assert before.startswith(b"\x89PNG") and "too faint" in sentence
    sliders[0].value = 1.0
    assert bytes(picture.value) != before and spoken.value != sentence
    words.value = 4
    assert sliders[0].value == 0.5
    words.value = 0
    assert sliders[0].value == 1.0
    buttons[2].click()
    assert spoken.value.count("clear") == 2 and sliders[0].value == pytest.approx(0.99)
    buttons[0].click()
    assert spoken.value == sentence


def test_a_button_keeps_everything_and_leaves_the_other_gates():
    _, sliders, buttons, *_ = parts(pictures.write_the_tape(lstm_cell))
    sliders[0].value = 0.25
    buttons[1].click()
    assert [slider.value for slider in sliders] == [0.25, 1.0, 0.5]
    assert parts(pictures.write_the_tape(lstm_cell))[1][1].value == 0.5, "two widgets are independent"
