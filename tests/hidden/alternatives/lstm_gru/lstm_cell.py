"""Right answers to `lstm_cell` that look nothing like the reference."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.nn import functional as F


def lstm_by_four_layers(x, h, c, W, U, b):
    H = len(b) // 4
    parts = [F.linear(x, W[k : k + H], b[k : k + H]) + F.linear(h, U[k : k + H]) for k in range(0, 4 * H, H)]
    i, f, o = (0.5 + 0.5 * torch.tanh(parts[k] / 2) for k in (0, 1, 3))
    new = f * c + i * (2 * torch.sigmoid(2 * parts[2]) - 1)
    return o * torch.tanh(new), new


class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


def lstm_of_named_states(x, h, c, W, U, b):
    """One row at a time under vmap, and a named tuple of states."""

    def one(x, h, c):
        i, f, g, o = (W @ x + U @ h + b).chunk(4)
        new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(new), new

    return State(*torch.func.vmap(one)(x, h, c))


ALTERNATIVES = [lstm_by_four_layers, lstm_of_named_states]
