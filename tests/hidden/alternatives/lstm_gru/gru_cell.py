"""Right answers to `gru_cell` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def gru_by_lerp(x, h, W, U, b):
    H = h.shape[1]
    a = F.linear(x, W, b)
    r, z = torch.sigmoid(a[:, : 2 * H] + F.linear(h, U[: 2 * H])).chunk(2, 1)
    return torch.lerp(torch.tanh(a[:, 2 * H :] + F.linear(r * h, U[2 * H :])), h, z)


def gru_by_einsum(x, h, W, U, b):
    W, U, b = (part.unflatten(0, (3, -1)) for part in (W, U, b))
    r, z = torch.sigmoid(torch.einsum("bd,khd->kbh", x, W[:2]) + torch.einsum("bj,khj->kbh", h, U[:2]) + b[:2, None])
    n = torch.tanh(x @ W[2].mT + torch.einsum("bj,bj,hj->bh", r, h, U[2]) + b[2])
    return (1 - z) * n + z * h


ALTERNATIVES = [gru_by_lerp, gru_by_einsum]
