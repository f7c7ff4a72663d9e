"""Right answers to `preference_loss` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_softplus(chosen, rejected):
    return F.softplus(rejected - chosen).mean()


def by_two_classes(chosen, rejected):
    pairs = torch.stack([chosen, rejected], 1)
    return F.cross_entropy(pairs, torch.zeros(len(chosen), dtype=torch.long))


ALTERNATIVES = [by_softplus, by_two_classes]
