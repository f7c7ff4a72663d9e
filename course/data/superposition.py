"""Vectors that are sums of a few of many directions: 48 features in 24 dimensions, of which two are on at a time.

Written for this course, after the toy models of N. Elhage et al., "Toy Models of Superposition", 2022. A direction is
unit, and the directions are pushed apart until none is near another. Each is on with probability `P_ON`, with a size
between 0.5 and 1.5, and a constant vector is added. So the features that made a vector are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

D, FEATURES, P_ON = 24, 48, 0.04
SMALLEST, LARGEST = 0.5, 1.5
"""Sizes of a feature that is on."""
BATCH = 256
"""Vectors in a training batch."""
PUSHES, PUSH, SHARPNESS = 300, 0.1, 4
"""Steps that push directions apart, how far each goes, and the power of the cosines whose sum falls."""


@lru_cache(maxsize=1)
def _made() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    rows = F.normalize(torch.randn(FEATURES, D, generator=generator, dtype=torch.float64), dim=1)
    for _ in range(PUSHES):
        cosines = (rows @ rows.T).fill_diagonal_(0)
        rows = F.normalize(rows - PUSH * SHARPNESS * cosines.pow(SHARPNESS - 1) @ rows, dim=1)
    return rows.float(), torch.randn(D, generator=generator) / D**0.5


def directions() -> Tensor:
    """Return the unit directions that vectors are made of, (48, 24)."""
    return _made()[0].clone()


def draw(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw `n` vectors (n, 24), and how much of each feature is in them, (n, 48), zero where it is off."""
    rows, constant = _made()
    on = torch.rand(n, FEATURES, generator=generator) < P_ON
    size = SMALLEST + (LARGEST - SMALLEST) * torch.rand(n, FEATURES, generator=generator)
    return (on * size) @ rows + constant, on * size


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor]]:
    """Yield endless training batches: vectors x (256, 24)."""
    while True:
        yield (draw(BATCH, generator)[0],)
