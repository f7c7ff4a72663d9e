"""The pictures of topic 03 draw what they are given, say what they show, and leave nothing open; the widgets answer."""

from __future__ import annotations

import ipywidgets
import pytest
import torch

from course import show
from course.data.parentheses import examples, is_balanced
from course.reference.rnn import ElmanClassifier, bptt, scheduled_inputs

pictures = show.rnn


def oracle(ids, lengths):
    return 20.0 * torch.nn.functional.one_hot(is_balanced(ids, lengths).long(), 2)


def shown(widget, kind):
    """The widgets of a kind inside a box, in order."""
    inner = [part for child in getattr(widget, "children", ()) for part in shown(child, kind)]
    return [widget, *inner] if isinstance(widget, kind) else inner


def test_every_figure_has_a_description_and_labelled_axes():
    figures = [
        pictures.windows((16, 48), (1, 2), [[0.5, 0.6], [0.5, 0.7]]),
        pictures.states(torch.randn(5, 7), list("([{}]")),
        pictures.fading({"a": [1.0, 0.1]}, "what is left", "Does it fade?", (1e-3, 1)),
        pictures.clipping({"clipped": ([2.0, 1.0], [50.0, 20.0]), "not": ([2.0, 3.0], [50.0, 0.0])}, 1.0),
        pictures.accuracy_by_length([6, 64], {"Elman": [1.0, 0.5]}),
        pictures.drifting({"true": [0.0, 0.1], "own": [0.0, 0.2]}),
        pictures.scheduled_sampling({1.0: ([0.0, 0.1], [0.0, 0.3]), 0.9: ([0.0, 0.2], [0.0, 0.4])}),
        pictures.reading(oracle, pictures.parse("([])")),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 40
        assert all(axes.get_xlabel() for axes in figure.axes[-1:] if axes.get_label() != "<colorbar>")
    assert "W_h" in pictures.unrolled(3).get_label()


def test_beliefs_are_read_off_every_beginning():
    assert [round(p) for p in pictures.beliefs(oracle, pictures.parse("()[{]"))] == [0, 1, 0, 0, 0]


def test_parsing_leaves_out_what_is_no_parenthesis():
    assert pictures.parse("( a [x])").tolist() == [0, 1, 8, 9]
    assert len(pictures.parse("abc")) == 0


def test_gradients_fade_and_explode_as_powers_of_the_radius():
    for radius in (0.6, 1.5):
        norms = pictures.gradient_norms(bptt, radius)
        assert len(norms) == 40
        assert norms[-1] / norms[-21] == pytest.approx(radius**20, rel=0.9)


def test_a_writer_reads_the_teacher_or_itself_as_the_coins_fall():
    heard = []

    def step(token, h):
        heard.append(int(token))
        return 50.0 * torch.nn.functional.one_hot((token + 1) % 7, 7), h

    teacher = torch.tensor([6, 6, 0, 6, 6, 0])
    h = torch.zeros(1, 2)
    assert pictures.mixed(scheduled_inputs, step, h, 2, teacher, 1.0).tolist() == teacher.tolist()
    assert heard == [2, *teacher[:-1]]
    assert pictures.mixed(scheduled_inputs, step, h, 2, teacher, 0.0).tolist() == [3, 4, 5, 6, 0, 1]


def test_the_radius_widget_redraws():
    box = pictures.turn_the_radius(bptt)
    (radius, size), (picture,) = shown(box, ipywidgets.FloatSlider), shown(box, ipywidgets.Image)
    assert radius.description and size.description
    before = bytes(picture.value)
    assert before.startswith(b"\x89PNG")
    radius.value = 0.5
    assert bytes(picture.value) != before


def test_the_reading_widget_steps_types_and_draws():
    box = pictures.watch_it_read(ElmanClassifier(10, 5, 2))
    (typed,), (steps,) = shown(box, ipywidgets.Text), shown(box, ipywidgets.IntSlider)
    (picture,), good = shown(box, ipywidgets.Image), shown(box, ipywidgets.Button)[0]
    whole = bytes(picture.value)
    steps.value = 3
    assert bytes(picture.value) != whole
    typed.value = "([])"
    assert steps.max == steps.value == 4
    good.click()
    ids = pictures.parse(typed.value)
    assert bool(is_balanced(ids[None], torch.tensor([len(ids)])))
    typed.value = "nothing of the kind"
    assert "Type" in shown(box, ipywidgets.HTML)[-1].value
    typed.value = "()"
    assert shown(box, ipywidgets.HTML)[-1].value == ""


def test_long_sequences_fit():
    ids, _, _ = examples(1, (40, 40), torch.Generator().manual_seed(0))
    assert pictures.reading(oracle, ids[0], 5)
