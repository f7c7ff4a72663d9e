"""Wrong answers to `shift_matrix` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import positional_encoding as reference


def shift_as_outer_product(offset, d_model):
    row = reference.sinusoidal(abs(offset) + 1, d_model)[abs(offset)]
    return torch.outer(row, row)


def shift_identity(offset, d_model):
    if d_model % 2:
        raise ValueError("odd")
    return torch.eye(d_model)


def shift_only_the_first_pair(offset, d_model):
    M = torch.eye(d_model)
    M[:2, :2] = reference.shift_matrix(offset, 2)
    return reference.shift_matrix(offset, d_model) * 0 + M


def shift_in_degrees(offset, d_model):
    return reference.shift_matrix(offset * math.pi / 180, d_model)


def shift_as_blocks(offset, d_model):
    return torch.stack([reference.shift_matrix(offset, d_model)[i : i + 2, i : i + 2] for i in range(0, d_model, 2)])


def shift_fitted(offset, d_model):
    """Fits as many rows as there are columns: one of many matrices for a narrow window of places."""
    table = reference.sinusoidal(abs(offset) + 2, d_model).double()
    k = abs(offset)
    return (torch.linalg.pinv(table[: len(table) - k]) @ table[k:]).T


def offset_without_its_sign(offset, d_model):
    return reference.shift_matrix(abs(offset), d_model)


def odd_widths_ignored(offset, d_model):
    return reference.shift_matrix(offset, d_model + d_model % 2)[:d_model, :d_model]


MUTANTS = [
    shift_as_outer_product,
    shift_identity,
    shift_only_the_first_pair,
    shift_in_degrees,
    shift_as_blocks,
    shift_fitted,
    offset_without_its_sign,
    odd_widths_ignored,
]
