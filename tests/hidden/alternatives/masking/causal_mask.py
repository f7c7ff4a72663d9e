"""Right answers to `causal_mask` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def numbers_of_places(T):
    return torch.arange(T)[:, None] >= torch.arange(T)[None]


def triangle_in_a_loop(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : t + 1] = True
    return mask


def not_above(T):
    return ~torch.triu(torch.ones((T, T)), diagonal=1).bool()


def counted_up(T):
    return torch.eye(T).cumsum(0) > 0


def triangle_by_recursion(T):
    if T == 0:
        return torch.ones(0, 0, dtype=torch.bool)
    triangle = F.pad(triangle_by_recursion(T - 1), (0, 1, 0, 1))
    triangle[-1] = True
    return triangle


ALTERNATIVES = [numbers_of_places, triangle_in_a_loop, not_above, counted_up, triangle_by_recursion]
