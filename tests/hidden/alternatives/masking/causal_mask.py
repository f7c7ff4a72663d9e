"""Right answers to `causal_mask` that look nothing like the reference."""

from __future__ import annotations

import torch


def numbers_of_places(T):
    return torch.arange(T)[:, None] >= torch.arange(T)[None]


def not_above(T):
    return ~torch.triu(torch.ones((T, T)), diagonal=1).bool()


ALTERNATIVES = [numbers_of_places, not_above]
