"""Right answers to `shift_matrix` that look nothing like the reference."""

from __future__ import annotations

import math

import torch

from tests.hidden.alternatives.positional_encoding.scaffold import even


def shift_by_filling(offset, d_model):
    even(d_model)
    M = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / 10000 ** (i / d_model)
        M[i, i] = M[i + 1, i + 1] = math.cos(angle)
        M[i, i + 1], M[i + 1, i] = math.sin(angle), -math.sin(angle)
    return M


def shift_as_a_power(offset, d_model):
    """One step, multiplied by itself; backwards by the transpose."""
    even(d_model)
    step = shift_by_filling(1, d_model).double()
    return torch.linalg.matrix_power(step if offset >= 0 else step.T, abs(offset))


ALTERNATIVES = [shift_by_filling, shift_as_a_power]
