"""Right answers to `sinusoidal` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np
import torch

from tests.hidden.alternatives.positional_encoding.scaffold import even


def table_as_everybody_writes_it(n_positions, d_model):
    """The float32 idiom of a hundred tutorials."""
    even(d_model)
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(0, n_positions, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def table_in_numpy(n_positions, d_model):
    even(d_model)
    angles = np.arange(n_positions)[:, None] / np.power(10000, 2 * np.arange(d_model // 2) / d_model)
    table = np.empty((n_positions, d_model))
    table[:, ::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return torch.from_numpy(table)


ALTERNATIVES = [table_as_everybody_writes_it, table_in_numpy]
