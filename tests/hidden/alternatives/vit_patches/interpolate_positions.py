"""Right answers to `interpolate_positions` that look nothing like the reference."""

from __future__ import annotations

import math

import torch
from einops import rearrange
from torch.nn import functional as F


def _stretched(mode, **options):
    def stretched(positions, new_grid):
        cls, places = positions[:1], positions[1:]
        side = int(len(places) ** 0.5)
        grid = rearrange(places, "(h w) d -> 1 d h w", h=side)
        grid = F.interpolate(grid, size=tuple(int(n) for n in new_grid), mode=mode, **options)
        return torch.cat([cls, rearrange(grid, "1 d h w -> (h w) d")])

    return stretched


stretched_bilinear = _stretched("bilinear", align_corners=False)

stretched_bilinear_to_the_corners = _stretched("bilinear", align_corners=True)

stretched_bicubic_to_the_corners = _stretched("bicubic", align_corners=True)

stretched_smoothly = _stretched("bicubic", align_corners=False, antialias=True)


@torch.no_grad()
def marks_drawn_larger_without_a_gradient(positions, new_grid):
    """The marks are weights, and are drawn larger once."""
    side = math.isqrt(len(positions) - 1)
    picture = positions[1:].T.unflatten(1, (side, side))[None]
    larger = F.interpolate(picture, tuple(new_grid), mode="bilinear", antialias=True)[0]
    return torch.cat([positions[:1], larger.flatten(1).T])


ALTERNATIVES = [
    marks_drawn_larger_without_a_gradient,
    stretched_bilinear,
    stretched_bilinear_to_the_corners,
    stretched_bicubic_to_the_corners,
    stretched_smoothly,
]
