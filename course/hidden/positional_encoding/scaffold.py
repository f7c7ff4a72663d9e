"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch


def _within(largest_position):
    """rtol = atol for an answer that makes its own angles: float32 rounds t w_i in proportion to t."""
    return 1e-5 * (1 + largest_position)


def _frequencies(d, base=10000.0):
    if d % 2:
        raise ValueError(f"{d} is odd")
    return base ** (-torch.arange(0, d, 2).double() / d)
