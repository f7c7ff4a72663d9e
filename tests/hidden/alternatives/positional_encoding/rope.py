"""Right answers to `rope` that look nothing like the reference."""

from __future__ import annotations

import einops
import torch

from tests.hidden.alternatives.positional_encoding.scaffold import even


def _places(x, positions):
    even(x.shape[-1])
    return torch.arange(x.shape[-2]) if positions is None else positions


def rope_of_complex_numbers(x, positions=None, base=10000.0):
    """As in LLaMA's own code."""
    positions = _places(x, positions)
    D = x.shape[-1]
    angles = torch.outer(positions.double(), base ** (-torch.arange(0, D, 2).double() / D))
    numbers = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(numbers * torch.polar(torch.ones_like(angles), angles)).flatten(-2).to(x.dtype)


def rope_by_rotating_pairs(x, positions=None, base=10000.0):
    """x cos + partner sin, with einops and float32 angles."""
    positions = _places(x, positions)
    D = x.shape[-1]
    frequencies = 1.0 / base ** (torch.arange(0, D, 2).float() / D)
    angles = einops.repeat(positions.float()[:, None] * frequencies, "t i -> t (i two)", two=2)
    pairs = einops.rearrange(x, "... (i two) -> ... i two", two=2)
    partner = torch.stack([-pairs[..., 1], pairs[..., 0]], dim=-1).flatten(-2)
    return x * angles.cos().to(x.dtype) + partner * angles.sin().to(x.dtype)


def rope_into_a_clone(x, positions=None, base=10000.0):
    """Column by column, in place on a tensor of its own."""
    D = x.shape[-1]
    if D % 2:
        raise ValueError
    places, out = torch.arange(x.shape[2]) if positions is None else positions, x.clone()
    for i in range(0, D, 2):
        angle = (places * base ** (-i / D)).to(x.dtype)
        out[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
        out[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
    return out


ALTERNATIVES = [rope_of_complex_numbers, rope_by_rotating_pairs, rope_into_a_clone]
