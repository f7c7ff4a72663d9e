"""Wrong answers to `causal_conv1d` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference.hidden_states import causal_conv1d


def one_step_early(x, W, b, dilation=1):
    return F.pad(causal_conv1d(x, W, b, dilation)[..., 1:], (0, 1))


def beginning_repeated(x, W, b, dilation=1):
    field = (W.shape[2] - 1) * dilation
    return F.conv1d(torch.cat([x[..., :1].expand(-1, -1, field), x], 2), W, b, dilation=dilation)


def dilation_of_two_for_all(x, W, b, dilation=1):
    return causal_conv1d(x, W, b, min(dilation, 2))


MUTANTS = [one_step_early, beginning_repeated, dilation_of_two_for_all]
