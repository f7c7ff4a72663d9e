"""Wrong answers to `interpolate_positions` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import vit_patches as reference


def positions_in_one_direction_only(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[1:].T.reshape(1, -1, side, side)
    wide = F.interpolate(picture, size=(side, new_grid[1]), mode="bilinear")
    rows = (torch.arange(new_grid[0]) * side) // new_grid[0]
    return torch.cat([positions[:1], wide[0, :, rows].flatten(1).T])


def positions_left_and_right_exchanged(positions, new_grid):
    larger = reference.interpolate_positions(positions, new_grid)
    return torch.cat([larger[:1], larger[1:].view(*new_grid, -1).flip(1).flatten(0, 1)])


def positions_scaled_by_a_rounded_factor(positions, new_grid):
    """13 times 15/13 is 14.999...: a row and a column are lost."""
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    factors = new_grid[0] / side, new_grid[1] / side
    larger = F.interpolate(grid, scale_factor=factors, mode="bilinear")
    return torch.cat([positions[:1], larger[0].flatten(1).T])


MUTANTS = [positions_scaled_by_a_rounded_factor, positions_in_one_direction_only, positions_left_and_right_exchanged]
