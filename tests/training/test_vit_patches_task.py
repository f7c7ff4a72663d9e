"""The task of topic 11 over ten seeds: a ViT clears the judge's bars, the commonest bugs and a linear model do not.

Measured on one core with the budget of the syllabus (100,000 images, about 22 s a run), on the held-out scans at random
places: the notebook's model reaches 92.6 to 97.5 % forty times of forty. A linear model gets 37 %, one that was trained
on scans in the middle 50 %. Without positions a bag of patches is right in 87 to 92 %, and answers puzzles as it
answers digits; marks that start at 0.02 give 89 to 91 %, a learning rate of 3e-3 83 to 86 %. Some bugs are learned
around: strips for patches or the last patch's vector for the class word's reach 92 %, and only the function checks
catch them.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.data import digits
from course.reference.vit_patches import ViT
from tests.training.judged import falling, trained, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


def build() -> ViT:
    """The notebook's sizes and first marks."""
    model = ViT(12, 3, 1, 10, 64, 4, 128, 2)
    nn.init.normal_(model.positions, std=0.2)
    return model


def without_positions() -> ViT:
    model = build()
    nn.init.zeros_(model.positions).requires_grad_(False)
    return model


def linear() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(144, 10))


def in_the_middle(generator: torch.Generator):
    images, labels = digits.scans("train")
    while True:
        for chosen in torch.randperm(len(labels), generator=generator).split(digits.BATCH):
            yield F.pad(images[chosen], (2, 2, 2, 2)), labels[chosen]


train = partial(trained, "vit_patches_task", lr=2e-3, schedule=falling(0.05))


@torch.no_grad()
def accuracy(model: nn.Module) -> float:
    images, labels = (found.repeat(4, *[1] * (found.dim() - 1)) for found in digits.scans("test"))
    pages = digits.place(images, torch.Generator().manual_seed(12345))
    return (model(pages).argmax(1) == labels).double().mean().item()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vit_clears_the_bars_with_every_seed(seed):
    model = train(build, seed)
    print(f"{seed}: {accuracy(model):.1%}")
    assert verdict_on("vit_patches_task", model, seed).kind == "passed"


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("make", "lr", "stream"),
    [
        (without_positions, 2e-3, None),
        (build, 2e-3, in_the_middle),
        (build, 2e-2, None),
        (linear, 3e-3, None),
    ],
    ids=["without positions", "trained in the middle", "a learning rate ten times too large", "linear"],
)
def test_the_commonest_bugs_and_a_linear_model_do_not(make, lr, stream, seed):
    model = train(make, seed, lr=lr, stream=stream)
    verdict = verdict_on("vit_patches_task", model, seed)
    print(f"{accuracy(model):.1%}, {verdict.score} of {verdict.points}, {verdict.misconception or 'nothing known'}")
    assert verdict.score < verdict.points
