"""Right answers to `causal_mask` that look nothing like the reference."""

from __future__ import annotations

import torch


def numbers_of_places(T):
    return torch.arange(T)[:, None] >= torch.arange(T)[None]


def triangle_in_a_loop(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : t + 1] = True
    return mask


def not_above(T):
    return ~torch.triu(torch.ones((T, T)), diagonal=1).bool()


ALTERNATIVES = [numbers_of_places, triangle_in_a_loop, not_above]
