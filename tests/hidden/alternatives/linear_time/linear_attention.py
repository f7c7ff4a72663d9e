"""Right answers to `linear_attention` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def with_a_matrix_and_a_mask(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    weights = torch.tril(q @ k.transpose(1, 2))
    return weights @ v / (weights.sum(-1, keepdim=True) + 1e-6)


def in_float32(q, k, v):
    q, k, values = F.elu(q.float()) + 1, F.elu(k.float()) + 1, v.float()
    S, z = torch.einsum("btd,bte->btde", k, values).cumsum(1), k.cumsum(1)
    return (torch.einsum("btd,btde->bte", q, S) / torch.einsum("btd,btd->bt", q, z).unsqueeze(-1)).to(v.dtype)


def divided_by_a_millionth_at_least(q, k, v):
    weights = torch.einsum("btd,bsd->bts", F.elu(q) + 1, F.elu(k) + 1).tril()
    return weights @ v / weights.sum(-1, keepdim=True).clamp(min=1e-6)


ALTERNATIVES = [with_a_matrix_and_a_mask, in_float32, divided_by_a_millionth_at_least]
