"""Right answers to `lstm_parameters` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn


def counted_by_formula(input_size, hidden_size, layers=1, bidirectional=False):
    d = 1 + bool(bidirectional)
    first = 4 * hidden_size * (input_size + hidden_size + 1) * d
    return first + (layers - 1) * d * 4 * (d * hidden_size**2 + hidden_size**2 + hidden_size)


def counted_on_linear_layers(input_size, hidden_size, layers=1, bidirectional=False):
    directions = [None, None] if bidirectional else [None]
    with torch.device("meta"):
        stack = [
            nn.Linear((input_size if layer == 0 else hidden_size * len(directions)) + hidden_size, 4 * hidden_size)
            for layer in range(layers)
            for _ in directions
        ]
    return sum(p.numel() for layer in stack for p in layer.parameters())


ALTERNATIVES = [counted_by_formula, counted_on_linear_layers]
