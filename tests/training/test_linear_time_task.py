"""Selective copying over ten seeds: the notebook's loop clears every bar, and the commonest bugs do not.

Measured over ten seeds, in letters right at 64 and at 256 places, after 6 to 9 seconds on one core: the notebook's loop
99.9 to 100 % and 97 to 99 %; a step that is learned and the same for every token 74 to 78 % and 36 to 47 %; a rate of
0.001, kept to the end, 79 to 83 % and 50 to 62 %. Unclipped gradients, gradients that are never set to zero and a
constant rate of 0.01 do as well as the notebook's loop, and so does a GRU. A rate that falls from 0.005 reaches 90 to
96 %. With four letters the notebook's loop reaches 88 to 98 %, so there are three.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import OneCycleLR

from course.data import copying
from course.reference.linear_time import Copier, SelectiveLayer
from tests.original import points_of
from tests.training import judged
from tests.training.judged import verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


class OneStepForAll(SelectiveLayer):
    """Learns its steps, and takes the same for every token."""

    def steps(self, x):
        return F.softplus(self.W_delta.bias).expand_as(x)


def trained(seed, layer=SelectiveLayer, lr=1e-2, **options):
    """The notebook's model and loop, and its budget."""

    def build():
        return Copier(copying.TOKENS, len(copying.LETTERS), copying.ASKED, layer(32, 4))

    options = {
        "optimizer": torch.optim.AdamW,
        "schedule": lambda optimizer, steps: OneCycleLR(optimizer, lr, total_steps=steps),
        "clip": partial(nn.utils.clip_grad_norm_, max_norm=1.0),
        **options,
    }
    return judged.trained("linear_time_task", build, seed, lr=lr, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loop_gets_full_marks(seed):
    assert verdict_on("linear_time_task", trained(seed), seed).kind == "passed"


@pytest.mark.parametrize("seed", SEEDS)
def test_one_step_for_all_tokens_fails_at_256(seed):
    verdict = verdict_on("linear_time_task", trained(seed, OneStepForAll), seed)
    assert verdict.score <= points_of("linear_time_task") / 4 and verdict.misconception == "counts_places"


@pytest.mark.parametrize("seed", SEEDS)
def test_small_steps_do_not(seed):
    verdict = verdict_on("linear_time_task", trained(seed, lr=1e-3, schedule=None, optimizer=torch.optim.Adam), seed)
    assert verdict.score < points_of("linear_time_task")


def test_a_loop_without_steps_does_not():
    assert verdict_on("linear_time_task", trained(0, schedule=None, forgets="step")).score == 0
