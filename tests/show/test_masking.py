"""The pictures of topic 09 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.reference.masking import causal_mask, leaks_future, masked_softmax

pictures = show.masking


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description_and_says_what_it_shows():
    words = ["Ada", "sleeps", "."]
    figures = [
        pictures.masks({"causal": causal_mask(3), "padding": torch.tensor([[True, True, False]])}, words),
        pictures.loss_by_padding([0, 10], {"ours": [2.0, 2.0], "all positions": [2.0, 1.0]}),
        pictures.corrupted_tokens({"the mask": 80, "another word": 10, "itself": 10}, 1000),
        pictures.learning_curves({"honest": [3.0] * 40, "peeking": [0.5] * 40}, floor=2.6),
        pictures.surprise_by_word(words, {"the grammar": [4.0, 2.0, 0.5], "model": [30.0, 2.0, 1.0]}),
        pictures.heads({"honest": torch.ones(2, 3, 3).tril(), "peeking": torch.ones(2, 3, 3)}, words),
    ]
    assert all(len(figure.get_label()) > 20 and len(labels(figure)) > 10 for figure in figures)
    assert "Allowed entries: causal 6 of 9" in figures[0].get_label() and "sleeps" in labels(figures[0])
    assert "all positions from 2.00 to 1.00" in figures[1].get_label()
    assert "10.0 % of the tokens" in figures[2].get_label() and "the mask 80.0 %" in figures[2].get_label()
    assert "peeking ends at 0.50. The grammar has 2.60" in figures[3].get_label()
    assert "model 11.00" in figures[4].get_label()
    assert "honest 0%, peeking 33%" in figures[5].get_label()


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("start", pictures.STARTS)
def test_reach_is_what_layers_really_know(start, layers):
    """Stacks of attention with the painted mask: changing a word moves exactly the outputs that know of it."""
    mask = pictures.starting_mask(start)
    E = torch.randn(9, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def model(ids):
        x = E[ids]
        for _ in range(layers):
            x = x + masked_softmax(torch.tanh(x @ x.mT), mask) @ torch.tanh(x)
        return x

    ids = torch.arange(5)[None]
    known = torch.zeros(5, 5, dtype=torch.bool)
    for s in range(5):
        changed = ids.clone()
        changed[0, s] = 7
        known[:, s] = (model(changed) - model(ids))[0].abs().amax(-1) > 1e-9
    assert torch.equal(known, pictures.reach(mask, layers))
    assert leaks_future(model, ids) is bool(known.triu(1).any())


def test_the_painter_follows_its_switches():
    painter = pictures.painter(masked_softmax)
    controls, _, *rows, picture, sentence = painter.children
    begin, layers = controls.children
    assert begin.description == "start from" and layers.description == "layers"
    assert len(rows) == 5 and all(len(row.children) == 6 for row in rows)
    first = rows[0].children[1:]
    assert [switch.description for switch in first] == ["yes", "yes", "-", "-", "-"]
    assert first[1].tooltip == "Ada may look at eats"
    assert (
        bytes(picture.value).startswith(b"\x89PNG")
        and "This is a leak, because Ada, eats and warm know" in sentence.value
    )
    begin.value = "causal and padding"
    assert "No word knows a later word." in sentence.value and first[1].description == "-"
    before = bytes(picture.value)
    first[1].value = True
    assert (
        bytes(picture.value) != before
        and "This is a leak, because Ada knows" in sentence.value
        and first[1].description == "yes"
    )
    first[1].value = first[0].value = False
    assert "Ada may look at nothing, which gives a row of zeros." in sentence.value
    begin.value = "everything"
    assert "The padding is open to Ada, eats, warm and bread." in sentence.value
    begin.value = "the last two words"
    layers.value = 1
    assert "“warm” knows eats and warm" in sentence.value
    layers.value = 2
    assert "“warm” knows Ada, eats and warm" in sentence.value


def test_the_painter_draws_with_the_students_function():
    calls = []

    def everything(scores, mask):
        calls.append(mask.sum().item())
        return torch.ones_like(scores) / 5

    pictures.painter(everything)
    assert calls == [17]
