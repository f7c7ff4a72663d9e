"""The telephone over ten seeds: the right loop clears every bar of the judge, the commonest wrong ones do not.

Measured on one core with the budget of the syllabus, over 1,000 numbers: torch's loss reads 98.9 to 99.9 % in 3 seconds
and the student's own 99.2 to 99.9 % in 9 seconds, and of those with a doubled digit 98.7 to 100 %. Blanks that go first
when decoding leave 61 % and none, a loss without its mask 0 to 3 %, a skip between equal labels 93 to 99 % and 83 to
99 %, and a gradient of NaN nothing. Padding on both sides reads as well, and is caught because it looks ahead.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LambdaLR

from course.data import telephone
from course.reference.hidden_states import causal_conv1d, ctc_collapse, ctc_loss
from tests.training import judged
from tests.training.judged import verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


class DigitReader(nn.Module):
    """The notebook's model."""

    def __init__(self, width=48, dilations=(1, 2, 4, 8)):
        super().__init__()
        self.dilations = dilations
        self.enter = nn.Conv1d(telephone.BINS, width, 1)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 3) for _ in dilations)
        self.leave = nn.Conv1d(width, telephone.LABELS, 1)

    def forward(self, x):
        h = self.enter(x)
        for layer, dilation in zip(self.layers, self.dilations, strict=True):
            h = h + F.relu(self.convolved(h, layer, dilation))
        return self.leave(h).log_softmax(1).transpose(1, 2)

    def convolved(self, h, layer, dilation):
        return causal_conv1d(h, layer.weight, layer.bias, dilation)

    def read(self, x, lengths):
        paths = self(x).argmax(-1).tolist()
        return [self.collapse(path[:length]) for path, length in zip(paths, lengths.tolist(), strict=True)]

    def collapse(self, path):
        return ctc_collapse(path)


class BlanksFirst(DigitReader):
    def collapse(self, path):
        return [label for label, _ in groupby(label for label in path if label)]


class BothSides(DigitReader):
    def convolved(self, h, layer, dilation):
        return F.conv1d(h, layer.weight, layer.bias, padding=dilation, dilation=dilation)


class ReadsOn(DigitReader):
    def read(self, x, lengths):
        return super().read(x, torch.full_like(lengths, x.shape[2]))


def torchs(log_p, lengths, targets, counts):
    return F.ctc_loss(log_p.transpose(0, 1), targets, lengths, counts)


def own(log_p, lengths, targets, counts):
    return ctc_loss(log_p, lengths, targets, counts).mean()


def unmasked(log_p, lengths, targets, counts):
    return torchs(log_p, torch.full_like(lengths, log_p.shape[1]), targets, counts)


def rises_and_falls(optimizer, steps):
    """Warm the rate up for twenty steps, and let it fall in the last three tenths."""
    return LambdaLR(optimizer, lambda step: min(1, (step + 1) / 20, (steps - step) / (0.3 * steps)))


def trained(seed, model=DigitReader, loss_of=torchs, lr=5e-3):
    """The notebook's loop over the syllabus's budget."""

    def loss(model, x, *rest):
        return loss_of(model(x), *rest)

    clip = partial(nn.utils.clip_grad_norm_, max_norm=1.0)
    return judged.trained("hidden_states_task", model, seed, lr=lr, loss=loss, schedule=rises_and_falls, clip=clip)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loop_gets_full_marks(seed):
    verdict = verdict_on("hidden_states_task", trained(seed), seed)
    assert verdict.kind == "passed", verdict


@pytest.mark.parametrize("options", [{"loss_of": own}, {"lr": 2e-3}], ids=["own loss", "lr 2e-3"])
def test_other_honest_loops_do_too(options):
    assert verdict_on("hidden_states_task", trained(0, **options), 0).kind == "passed"


@pytest.mark.parametrize(
    "options",
    [{"model": BlanksFirst}, {"model": BothSides}, {"model": ReadsOn}, {"loss_of": unmasked}, {"lr": 1e-6}],
    ids=["blanks first", "both sides", "reads on", "no mask", "hardly moves"],
)
def test_the_commonest_mistakes_do_not(options):
    verdict = verdict_on("hidden_states_task", trained(1, **options), 1)
    print(options, verdict.score, verdict.misconception)
    assert verdict.score < verdict.points
