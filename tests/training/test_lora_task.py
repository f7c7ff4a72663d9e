"""The task of topic 12 over ten seeds: rank 2 everywhere clears the judge's bars; what costs too much or changes the
base does not.

Measured on one core with the budget of the syllabus (30,000 images, 600 batches), on the 397 negatives held out:

    rank 2 in every layer, 2,240 numbers     91.7 - 96.2 %, forty seeds, 94.3 % on average
    rank 1, 4 and 16, and everything         91 %, 97 %, 89 - 94 % and 95 %, one or two seeds
    the head alone, 410 numbers              79 %
    biases alone, 810 numbers                48 %
    untouched                                12 %

The commonest bugs leave right answers and a base that has moved, or too many numbers: the state tells.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from course import blocks
from course.data import negatives, pretrained
from course.hidden.lora.lora_task import LIMIT
from course.reference import lora
from tests.training.judged import falling, trained, verdict_on

SEEDS = range(10)
EVERYWHERE = ("W_q", "W_k", "W_v", "W_o", "up", "down")


def reader() -> blocks.ViT:
    model = blocks.ViT(**pretrained.SIZES)
    model.load_state_dict(pretrained.weights())
    return model


def adapted(r: int = 2, targets=EVERYWHERE) -> blocks.ViT:
    model = reader()
    lora.add_lora(model, r, 4 * r, targets)
    return model


def bitfit() -> blocks.ViT:
    model = reader()
    lora.add_bitfit(model)
    return model


def head_alone() -> blocks.ViT:
    model = reader().requires_grad_(False)
    model.head.requires_grad_(True)
    return model


def forgotten_to_freeze() -> blocks.ViT:
    return adapted().requires_grad_(True)


train = partial(trained, "lora_task", lr=1e-2, schedule=falling(0.05))


@torch.no_grad()
def accuracy(model: nn.Module) -> float:
    images, labels = negatives.scans("test")
    return (model(images).argmax(1) == labels).double().mean().item()


def test_without_training_it_is_called_not_adapted():
    assert verdict_on("lora_task", adapted().eval()).misconception == "not_adapted_at_all"


def test_numbers_that_may_learn_are_counted_before_any_does():
    few, many = verdict_on("lora_task", adapted(2).eval()), verdict_on("lora_task", adapted(16).eval())
    assert lora.trainable_parameters(adapted(2))[0] <= LIMIT < lora.trainable_parameters(adapted(16))[0]
    assert [
        case.message for case in few.cases if "numbers" in case.title and "trainable parameters" in case.message
    ] == []
    assert any("expected at most 2,500 trainable parameters, got 17,920" in case.message for case in many.cases)


def test_a_bias_that_moved_by_a_single_bit_is_seen():
    model = adapted().eval()
    with torch.no_grad():
        bias = model.get_submodule("encoder.1.up").base.bias
        bias[3] = torch.nextafter(bias[3], bias[3] + 1)
    messages = [case.message for case in verdict_on("lora_task", model).cases]
    assert any("encoder.1.up.bias changed, but these weights should stay" in message for message in messages)


def test_the_base_may_stand_anywhere_in_the_model():
    """Another name for everything, as in a model that wraps the reader."""
    messages = [case.message for case in verdict_on("lora_task", nn.Sequential(adapted().eval())).cases]
    assert not any("should stay as they were" in message or "trainable parameters" in message for message in messages)


def test_a_few_batches_already_help():
    model = train(adapted, 0, share=0.1)
    assert accuracy(model) > 0.4 > 0.25 > accuracy(reader())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_rank_two_clears_the_bars_with_every_seed(seed):
    model = train(adapted, seed)
    print(f"{seed}: {accuracy(model):.1%}")
    assert verdict_on("lora_task", model, seed).kind == "passed"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("make", "lr", "misconception"),
    [
        (bitfit, 1e-2, "trained_only_biases"),
        (head_alone, 1e-2, "trained_only_the_head"),
        (reader, 2e-3, "base_not_frozen"),
        (forgotten_to_freeze, 2e-3, "base_not_frozen"),
        (partial(adapted, 4), 1e-2, "too_many_numbers"),
        (adapted, 3e-1, ""),
    ],
    ids=["biases", "head", "everything", "forgot to freeze", "rank 4", "a learning rate far too large"],
)
def test_other_ways_do_not(make, lr, misconception, seed):
    model = train(make, seed, lr=lr)
    verdict = verdict_on("lora_task", model, seed)
    print(f"{accuracy(model):.1%}, {verdict.score} of {verdict.points}, {verdict.misconception or 'nothing known'}")
    assert verdict.score < verdict.points
    assert not misconception or verdict.misconception == misconception
