"""Right answers to `sinusoidal` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np
import torch

from tests.hidden.alternatives.positional_encoding.scaffold import even


def table_by_loops(n_positions, d_model):
    even(d_model)

    def entry(t, column):
        angle = t / 10000 ** ((column - column % 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    return torch.tensor([[entry(t, column) for column in range(d_model)] for t in range(n_positions)])


def table_as_everybody_writes_it(n_positions, d_model):
    """The float32 idiom of a hundred tutorials."""
    even(d_model)
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(0, n_positions, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def table_of_complex_numbers(n_positions, d_model):
    even(d_model)
    angles = torch.outer(torch.arange(n_positions).double(), 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model))
    return torch.view_as_real(torch.polar(torch.ones_like(angles), angles)).flip(-1).flatten(1)


def table_by_phase(n_positions, d_model):
    """A cosine is a sine a quarter turn ahead."""
    even(d_model)
    column = torch.arange(d_model)
    angles = torch.arange(n_positions)[:, None] / 10000.0 ** ((column - column % 2) / d_model)
    return torch.sin(angles + (column % 2) * math.pi / 2)


def table_by_recurrence(n_positions, d_model):
    """Each row from the one before, by the addition theorem."""
    even(d_model)
    w = 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model)
    sines, cosines = [torch.zeros_like(w)], [torch.ones_like(w)]
    for _ in range(n_positions - 1):
        sine, cosine = sines[-1], cosines[-1]
        sines.append(sine * w.cos() + cosine * w.sin())
        cosines.append(cosine * w.cos() - sine * w.sin())
    return torch.stack([torch.stack(sines), torch.stack(cosines)], -1).flatten(1)


def table_in_numpy(n_positions, d_model):
    even(d_model)
    angles = np.arange(n_positions)[:, None] / np.power(10000, 2 * np.arange(d_model // 2) / d_model)
    table = np.empty((n_positions, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table)


def table_in_a_borrowed_dtype(n_positions, d_model):
    """Another default dtype, for as long as it is needed."""
    if d_model % 2:
        raise ValueError
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        places, columns = torch.arange(n_positions), torch.arange(0, d_model, 2)
        angles = torch.outer(1.0 * places, torch.pow(10000.0, -columns / d_model))
        return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)
    finally:
        torch.set_default_dtype(before)


ALTERNATIVES = [
    table_by_loops,
    table_as_everybody_writes_it,
    table_of_complex_numbers,
    table_by_phase,
    table_by_recurrence,
    table_in_numpy,
    table_in_a_borrowed_dtype,
]
