"""What several of this topic's answers are made of."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def cell_by_linear(x, h, W_x, W_h, b):
    return torch.tanh(F.linear(x, W_x, b) + F.linear(h, W_h))


def forward_into_a_tensor(xs, h0, W_x, W_h, b):
    hs = xs.new_empty(*xs.shape[:2], len(b))
    h = h0
    for t in range(xs.shape[1]):
        h = torch.tanh(xs[:, t] @ W_x.t() + h @ W_h.t() + b)
        hs[:, t] = h
    return [hs, h]
