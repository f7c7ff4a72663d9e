"""What several of this topic's answers are made of."""

from __future__ import annotations

import copy

from torch import nn


def with_weight(base, weight):
    made = copy.deepcopy(base)
    made.weight = nn.Parameter(weight.detach().clone())
    return made
