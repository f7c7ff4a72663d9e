"""Wrong answers to `rope` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import positional_encoding as reference


def rope_whole_places_only(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.long(), base)


def rope_in_place(x, positions=None, base=10000.0):
    x.copy_(reference.rope(x, positions, base))
    return x


def rope_without_gradient(x, positions=None, base=10000.0):
    return reference.rope(x.detach(), positions, base)


def rope_always_double(x, positions=None, base=10000.0):
    return reference.rope(x.double(), positions, base)


def rope_over_batch(x, positions=None, base=10000.0):
    return reference.rope(x.movedim(0, 2), torch.arange(len(x)), base).movedim(2, 0)


def rope_places_sorted(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.sort().values, base)


def rope_places_from_zero(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions - positions.min(), base)


def rope_first_half_of_the_pairs(x, positions=None, base=10000.0):
    D = x.shape[-1]
    return torch.cat([reference.rope(x, positions, base)[..., : D // 2], x[..., D // 2 :]], -1)


def rope_with_swapped_functions(x, positions=None, base=10000.0):
    a, b = x[..., 0::2], x[..., 1::2]
    places = torch.arange(x.shape[-2]) if positions is None else positions
    D = x.shape[-1]
    angles = places.double()[:, None] * base ** (-torch.arange(0, D, 2).double() / D)
    cos, sin = angles.sin().to(x.dtype), angles.cos().to(x.dtype)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def rope_slowest_first(x, positions=None, base=10000.0):
    return reference.rope(x.flip(-1), positions, base).flip(-1)


def rope_denominator_of_the_pairs(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base**2)


def rope_odd_width_cut(x, positions=None, base=10000.0):
    D = x.shape[-1] // 2 * 2
    return torch.cat([reference.rope(x[..., :D], positions, base), x[..., D:]], -1)


def rope_scaled(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base) / x.shape[-1] ** 0.5


def rope_always_of_one_base(x, positions=None, base=10000.0):
    return reference.rope(x, positions)


def rope_from_a_table_of_2048(x, positions=None, base=10000.0):
    return reference.rope(x, None if positions is None else positions.clamp(max=2047), base)


MUTANTS = [
    rope_whole_places_only,
    rope_in_place,
    rope_without_gradient,
    rope_always_double,
    rope_over_batch,
    rope_places_sorted,
    rope_places_from_zero,
    rope_first_half_of_the_pairs,
    rope_with_swapped_functions,
    rope_slowest_first,
    rope_denominator_of_the_pairs,
    rope_odd_width_cut,
    rope_scaled,
    rope_always_of_one_base,
    rope_from_a_table_of_2048,
]
