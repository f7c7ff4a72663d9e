"""The pictures of topic 14 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import torch

from course import show
from course.data import telephone
from course.reference.hidden_states import ctc_collapse, hmm_posterior, viterbi
from tests.show.widgets import look

pictures = show.hidden_states


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def one_call():
    calls = telephone.draw(1, torch.Generator().manual_seed(0))
    return calls.x[0], calls.targets[0].tolist(), calls.starts[0], calls.ends[0]


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    x, dialled, starts, ends = one_call()
    log_p = torch.randn(x.shape[1], telephone.LABELS, generator=torch.Generator().manual_seed(0)).log_softmax(-1)
    figures = [
        pictures.tone_reader([40, 20, 0], [1.0, 0.5, 0.1]),
        pictures.call(x, dialled, starts, ends),
        pictures.reading(x, log_p, dialled, starts, ends),
        pictures.words_right({"typed": 0.5, "letters": 0.7, "pairs": 0.9}, 0.1),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 20
    assert "50%" in figures[0].get_label() and telephone.number(dialled) in figures[1].get_label()
    assert "90 %" in labels(figures[3])


def test_the_reading_spells_the_likeliest_labels():
    x, dialled, starts, ends = one_call()
    log_p = torch.full((x.shape[1], telephone.LABELS), -9.0)
    log_p[:, 0] = -1.0
    log_p[10, 5], log_p[11, 5], log_p[20, 10] = 0.0, 0.0, 0.0
    assert "spell 50" in pictures.reading(x, log_p, dialled, starts, ends).get_label()


def test_the_lattice_says_that_the_best_states_are_an_impossible_path():
    widget = pictures.lattice(viterbi, hmm_posterior)
    (text, noise), picture, said = widget.children[0].children, *widget.children[1:]
    assert "Best path: sss. Path and text together have probability 0.016." in said.value
    assert "sds, an impossible path" in said.value
    before = bytes(picture.value)
    noise.value = 0.4
    assert bytes(picture.value) != before
    noise.value, text.value = 0.0, "sa"
    assert "No path can make “sa”" in said.value
    text.value = "xyz"
    assert "Type some" in said.value
    text.value = "aaa"
    assert "aaa, the same" in said.value


def test_the_speller_uses_the_students_function():
    widget = pictures.speller(ctc_collapse)
    text, _, said = widget.children
    assert "spells “557”" in said.value and "first it would spell “57”" in said.value
    text.value = "_0_0"
    assert "spells “00”" in said.value
    asked = []
    pictures.speller(lambda path: asked.append(path) or [1, 2])
    assert asked and "spells “12”" in pictures.speller(lambda path: [1, 2]).children[2].value


def test_the_player_holds_the_sound():
    player = pictures.player(telephone.ring("5", rate=8000), 8000)
    assert player.data[:4] == b"RIFF" and len(player.data) > 2 * 8000 * 0.35


def test_two_widgets_are_independent():
    first, second = (pictures.speller(ctc_collapse) for _ in range(2))
    seen = look(second)
    first.children[0].value = "1"
    assert look(second) == seen
