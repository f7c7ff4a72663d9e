"""Wrong answers to `prefix_scan` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def sums_alone(a, b):
    return b.cumsum(1) + 0 * a.sum()


def one_pass_too_many_that_wraps(a, b):
    s = 1
    while s < a.shape[1]:
        b = b + a * b.roll(s, 1)
        a = a * a.roll(s, 1)
        s *= 2
    return b


def shifts_that_grow_by_one(a, b):
    s = 1
    while s * (s - 1) // 2 < a.shape[1] and s < a.shape[1]:
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
        s += 1
    return b


def begins_at_one(a, b):
    return reference.prefix_scan(a, b) + a.cumprod(1)


def products_of_absolute_values(a, b):
    return reference.prefix_scan(a.abs(), b)


def jumps_in_blocks(a, b):
    """A loop over blocks of two places: half as many operations are still too many."""
    h, outs = torch.zeros_like(b[:, 0]), []
    for t in range(0, a.shape[1], 2):
        first = a[:, t] * h + b[:, t]
        outs.append(first)
        if t + 1 < a.shape[1]:
            h = a[:, t + 1] * first + b[:, t + 1]
            outs.append(h)
    return torch.stack(outs, 1)


def ten_passes_for_any_length(a, b):
    for s in (2**i for i in range(10)):
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
    return b


MUTANTS = [
    sums_alone,
    one_pass_too_many_that_wraps,
    shifts_that_grow_by_one,
    begins_at_one,
    products_of_absolute_values,
    jumps_in_blocks,
    ten_passes_for_any_length,
]
