"""Positional encodings of topic 08: sinusoids, which are added to the words, and RoPE, which rotates them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor


def sinusoids(n_positions: int, d_model: int) -> Tensor:
    """Return the sinusoidal table (n_positions, d_model), with sine and cosine of one angle in each pair of columns.

    Raises:
        ValueError: the width is odd.
    """
    if d_model % 2:
        raise ValueError(f"a width of {d_model} is odd, but sines and cosines come in pairs")
    speeds = torch.logspace(0, -math.log10(1e4), d_model // 2 + 1)[:-1]  # one radian a position, and slower
    pairs = torch.polar(torch.ones(1), torch.outer(torch.arange(n_positions).float(), speeds))
    return torch.view_as_real(pairs).flip(-1).flatten(1)  # (n, D/2, 2) -> (n, D)


_base = ContextVar("base", default=10_000.0)


@contextmanager
def rope_base(base: float) -> Iterator[None]:
    """Let `rope` take this base wherever it is called without one, in `with blocks.rope_base(100_000): ...`."""
    token = _base.set(base)
    try:
        yield
    finally:
        _base.reset(token)


def rope(x: Tensor, positions: Tensor | None = None, base: float | None = None) -> Tensor:
    """Rotate each pair of neighbouring columns of x (B, h, T, D) by its position, as topic 08's `rope` does.

    `positions` (T,) are 0 ... T - 1 unless they are given, and the base is 10,000, or that of `rope_base`.

    Raises:
        ValueError: the width is odd.
    """
    T, D = x.shape[-2:]
    if D % 2:
        raise ValueError(f"a width of {D} holds no whole number of pairs")
    places = torch.arange(T, device=x.device) if positions is None else positions
    speeds = (_base.get() if base is None else base) ** (
        -torch.arange(0, D, 2, device=x.device, dtype=torch.float64) / D
    )
    angles = torch.outer(places.double(), speeds)  # (T, D/2)
    cos, sin, (even, odd) = angles.cos().to(x.dtype), angles.sin().to(x.dtype), x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
