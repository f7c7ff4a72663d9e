"""Wrong answers to `interpolate_positions` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import vit_patches as reference


def _stretched(positions, new_grid):
    return reference.interpolate_positions(positions, new_grid)


def positions_cut_off(positions, new_grid):
    """The first rows of the table, repeated where they do not reach."""
    need = new_grid[0] * new_grid[1]
    return torch.cat([positions[:1], positions[1:].repeat(need // (len(positions) - 1) + 1, 1)[:need]])


def positions_repeated_like_tiles(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    rows, columns = (torch.arange(n) % side for n in new_grid)
    return torch.cat([positions[:1], positions[1:].view(side, side, -1)[rows][:, columns].flatten(0, 1)])


def positions_padded_with_zeros(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(side, side, -1).permute(2, 0, 1)
    grid = F.pad(grid, (0, max(new_grid[1] - side, 0), 0, max(new_grid[0] - side, 0)))[:, : new_grid[0], : new_grid[1]]
    return torch.cat([positions[:1], grid.flatten(1).T])


def positions_drawn_anew(positions, new_grid):
    return torch.cat([positions[:1], torch.randn(new_grid[0] * new_grid[1], positions.shape[1])])


def positions_in_one_direction_only(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[1:].T.reshape(1, -1, side, side)
    wide = F.interpolate(picture, size=(side, new_grid[1]), mode="bilinear")
    rows = (torch.arange(new_grid[0]) * side) // new_grid[0]
    return torch.cat([positions[:1], wide[0, :, rows].flatten(1).T])


def positions_upside_down(positions, new_grid):
    larger = _stretched(positions, new_grid)
    return torch.cat([larger[:1], larger[1:].view(*new_grid, -1).flip(0).flatten(0, 1)])


def positions_left_and_right_exchanged(positions, new_grid):
    larger = _stretched(positions, new_grid)
    return torch.cat([larger[:1], larger[1:].view(*new_grid, -1).flip(1).flatten(0, 1)])


def positions_scaled_to_the_old_sum(positions, new_grid):
    larger = _stretched(positions, new_grid)
    share = (len(positions) - 1) / (len(larger) - 1)
    return torch.cat([larger[:1], larger[1:] * share])


def positions_with_the_class_row_in_the_picture(positions, new_grid):
    """Takes the first N rows for the picture: off by one."""
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[:-1].T.reshape(1, -1, side, side)
    return torch.cat([positions[:1], F.interpolate(picture, size=tuple(new_grid), mode="bilinear")[0].flatten(1).T])


def positions_scaled_by_a_rounded_factor(positions, new_grid):
    """13 times 15/13 is 14.999...: a row and a column are lost."""
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    factors = new_grid[0] / side, new_grid[1] / side
    larger = F.interpolate(grid, scale_factor=factors, mode="bilinear")
    return torch.cat([positions[:1], larger[0].flatten(1).T])


MUTANTS = [
    positions_scaled_by_a_rounded_factor,
    positions_cut_off,
    positions_repeated_like_tiles,
    positions_padded_with_zeros,
    positions_drawn_anew,
    positions_in_one_direction_only,
    positions_upside_down,
    positions_left_and_right_exchanged,
    positions_scaled_to_the_old_sum,
    positions_with_the_class_row_in_the_picture,
]
