"""Right answers to `gated_cell` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def gate_by_lerp(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = F.relu(F.linear(x, W_x, b) + F.linear(h, W_h))
    return torch.lerp(candidate, h, F.sigmoid(F.linear(x, V_x, c) + F.linear(h, V_h)))


def gate_row_by_row(x, h, W_x, W_h, b, V_x, V_h, c):
    rows = []
    for one, state in zip(x, h, strict=True):
        candidate = torch.maximum(W_x @ one + W_h @ state + b, torch.zeros_like(b))
        z = torch.special.expit(V_x @ one + V_h @ state + c)
        rows.append(z * state + (1 - z) * candidate)
    return torch.stack(rows)


ALTERNATIVES = [gate_by_lerp, gate_row_by_row]
