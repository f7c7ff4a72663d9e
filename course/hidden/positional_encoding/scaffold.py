"""What several exercises of this topic are examined with."""

import torch


def within(largest_position):
    """rtol = atol for an answer that makes its own angles: float32 rounds t w_i in proportion to t."""
    return 1e-5 * (1 + largest_position)


def frequencies_of(d, base=10000.0):
    """The angle by which each pair of d numbers turns from one position to the next, (d / 2,). Odd d: ValueError."""
    if d % 2:
        raise ValueError(f"{d} is odd")
    return base ** (-torch.arange(0, d, 2).double() / d)
