"""Wrong answers to `alibi_bias` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import positional_encoding as reference


def alibi_after_softmax(n_heads, T):
    return reference.alibi_bias(n_heads, T).softmax(-1)


def alibi_diagonal_hidden(n_heads, T):
    return reference.alibi_bias(n_heads, T).masked_fill(torch.eye(T, dtype=torch.bool), -math.inf)


def alibi_distance_from_one(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return reference.alibi_bias(n_heads, T) - slopes[:, None, None]


def alibi_with_a_batch_axis(n_heads, T):
    return reference.alibi_bias(n_heads, T)[None]


def alibi_slope_squared(n_heads, T):
    return reference.alibi_bias(n_heads, T) * 2.0 ** (-8 / n_heads)


def alibi_squared_distance(n_heads, T):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (torch.arange(T)[:, None] - torch.arange(T)).double()
    return (-slopes[:, None, None] * distance**2).masked_fill(distance < 0, -math.inf)


def alibi_head_axis_last(n_heads, T):
    return reference.alibi_bias(n_heads, T).movedim(0, -1)


def alibi_one_too_few(n_heads, T):
    return reference.alibi_bias(n_heads + 1, T)[:n_heads]


def alibi_a_large_number_for_infinity(n_heads, T):
    return reference.alibi_bias(n_heads, T).clamp(min=-1e9)


MUTANTS = [
    alibi_after_softmax,
    alibi_diagonal_hidden,
    alibi_distance_from_one,
    alibi_with_a_batch_axis,
    alibi_slope_squared,
    alibi_squared_distance,
    alibi_head_axis_last,
    alibi_one_too_few,
    alibi_a_large_number_for_infinity,
]
