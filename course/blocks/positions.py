"""The sinusoids of topic 08, for models that add them to their words."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def waves(n_positions: int, d_model: int) -> Tensor:
    """The sinusoidal table (n_positions, d_model), with sine and cosine of one angle in each pair of columns.

    Raises:
        ValueError: the width is odd.
    """
    if d_model % 2:
        raise ValueError(f"a width of {d_model} is odd, but sines and cosines come in pairs")
    speeds = torch.logspace(0, -math.log10(1e4), d_model // 2 + 1)[:-1]  # one radian a position, and slower
    hands = torch.polar(torch.ones(1), torch.outer(torch.arange(n_positions).float(), speeds))
    return torch.view_as_real(hands).flip(-1).flatten(1)  # (n, D/2, 2) -> (n, D)
