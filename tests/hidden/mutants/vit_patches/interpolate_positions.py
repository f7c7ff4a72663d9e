"""Wrong answers to `interpolate_positions` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def _by_a_factor(more):
    def scaled(positions, new_grid):
        side = round((len(positions) - 1) ** 0.5)
        grid = positions[1:].T.reshape(1, -1, side, side)
        factors = tuple((n + more) / side for n in new_grid)
        larger = F.interpolate(grid, scale_factor=factors, mode="bilinear")
        return torch.cat([positions[:1], larger[0].flatten(1).T])

    return scaled


positions_scaled_by_a_rounded_factor = _by_a_factor(0.0)
"""13 times 15/13 is 14.999...: a row and a column are lost."""

positions_scaled_by_a_little_more = _by_a_factor(0.1)
"""As DINO's code had it: the middle moves."""


MUTANTS = [positions_scaled_by_a_rounded_factor, positions_scaled_by_a_little_more]
