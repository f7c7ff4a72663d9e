"""The published model of the play: it knows whose surname comes, and loses it with three heads, as its card says."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest
import torch

from course import blocks
from course.data import play, play_model
from course.reference.inside import induction_score

INDUCTION = (1, 2, 3)
"""The heads of layer 1 that look behind a speaker's first line."""


@pytest.fixture(scope="module")
def model():
    return blocks.OpenGPT(**play_model.SIZES).load_published(play_model.weights()).eval().requires_grad_(False)


@pytest.fixture(scope="module")
def texts():
    return play.draw(100, torch.Generator().manual_seed(7))


def surnames(model, texts, zeroed=()):
    """Probabilities of the right and of any surname where it is known, with heads of layer 1 zeroed at the speakers."""
    read, target = texts[:, :-1], texts[:, 1:]
    speaker = play.is_surname(target)
    known = speaker & (play.next_token(read).gather(-1, target[..., None]).squeeze(-1) == 1)
    with ExitStack() as stack:
        for k in zeroed:
            hook = lambda module, inputs, output: output.masked_fill(speaker[..., None], 0.0)  # noqa: E731
            stack.callback(model.layers[1].added[k].register_forward_hook(hook).remove)
        p = model(read)[0].softmax(-1)[known]
    right = p.gather(-1, target[known][:, None])
    return right.mean().item(), p[:, -len(play.SURNAMES) :].sum(-1).mean().item()


def row(name):
    """The numbers of the card's row that begins with this name."""
    line = next(line for line in play_model.card().splitlines() if line.startswith(f"| {name} |"))
    return [float(number) for number in re.findall(r"\d\.\d+", line.removeprefix(f"| {name} |"))]


def test_the_weights_are_small_and_in_half_precision(model):
    assert play_model.WEIGHTS.stat().st_size < 190_000
    assert {weight.dtype for weight in play_model.weights().values()} == {torch.float16}
    assert f"{sum(weight.numel() for weight in model.parameters()):,} parameters" in play_model.card()


def test_it_knows_whose_surname_comes(model, texts):
    assert surnames(model, texts) == pytest.approx(row("nothing"), abs=0.005)


def test_one_induction_head_is_hardly_missed_and_three_take_the_surname(model, texts):
    for k in INDUCTION:
        right, some = surnames(model, texts, [k])
        assert right > 0.85 and some > 0.98
    assert surnames(model, texts, INDUCTION) == pytest.approx(row("1.1, 1.2 and 1.3"), abs=0.05)


def test_three_heads_look_behind_the_speaker_as_the_card_says(model, texts):
    read = texts[:, :-1]
    speakers = torch.where(play.is_surname(texts[:, 1:]), read, 1000 + torch.arange(read.shape[1]))
    seen = []
    handle = model.layers[1].weights.register_forward_hook(lambda module, inputs, output: seen.append(output))
    model(read)
    handle.remove()
    told = row(f"**{play_model.SEED}**")[-4:]
    assert induction_score(seen[0], speakers).tolist() == pytest.approx(told, abs=0.03)
