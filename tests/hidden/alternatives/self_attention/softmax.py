"""Right answers to `softmax` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def softmax_of_differences(x, dim):
    """1 / sum_j exp(x_j - x_i): no maximum at all; exp of a large difference is inf, and 1 / inf is 0."""
    x = x.movedim(dim, -1)
    # -inf - -inf is NaN, and an entry at -inf has no weight whatever the others are
    finite = torch.where(x == -math.inf, torch.full_like(x, -1e300 if x.dtype == torch.float64 else -1e38), x)
    return (1 / (finite[..., None, :] - finite[..., :, None]).exp().sum(-1)).movedim(-1, dim)


def softmax_slice_by_slice(x, dim):
    slices = []
    for piece in x.movedim(dim, -1).reshape(-1, x.shape[dim]):
        powers = torch.pow(math.e, piece - max(piece.detach()))
        slices.append(powers / sum(powers))
    moved = x.movedim(dim, -1)
    return torch.stack(slices).view(moved.shape).movedim(-1, dim)


ALTERNATIVES = [softmax_of_differences, softmax_slice_by_slice]
