"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch


def levels_of(rng):
    """Sixteen levels of the judge's own, ascending from -1 to 1."""
    inside = (2 * torch.arange(1, 15) - 15 + 0.8 * (rng.uniform(14) - 0.5)) / 15
    return torch.cat([torch.tensor([-1.0]), inside, torch.tensor([1.0])]).double()
