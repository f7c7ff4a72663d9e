"""Right answers to `linear_attention` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def with_a_matrix_and_a_mask(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    weights = torch.tril(q @ k.transpose(1, 2))
    return weights @ v / (weights.sum(-1, keepdim=True) + 1e-6)


def token_by_token(q, k, v):
    S, z, outs = 0.0, 0.0, []
    for t in range(q.shape[1]):
        key, query = F.elu(k[:, t]) + 1, F.elu(q[:, t]) + 1
        S = S + key.unsqueeze(-1) * v[:, t].unsqueeze(1)
        z = z + key
        outs.append((query.unsqueeze(1) @ S).squeeze(1) / (query * z).sum(1, keepdim=True))
    return torch.stack(outs, dim=1)


def values_with_a_one(q, k, v):
    """The normaliser is one value more, which is 1 for every token."""
    q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (q, k))
    v = torch.cat([v, torch.ones_like(v[..., :1])], -1)
    sums = torch.cumsum(torch.einsum("btd,bte->btde", k, v), 1)
    out = torch.einsum("btd,btde->bte", q, sums)
    return out[..., :-1] / out[..., -1:]


def in_float32(q, k, v):
    q, k, values = F.elu(q.float()) + 1, F.elu(k.float()) + 1, v.float()
    S, z = torch.einsum("btd,bte->btde", k, values).cumsum(1), k.cumsum(1)
    return (torch.einsum("btd,btde->bte", q, S) / torch.einsum("btd,btd->bt", q, z).unsqueeze(-1)).to(v.dtype)


def divided_by_a_millionth_at_least(q, k, v):
    weights = torch.einsum("btd,bsd->bts", F.elu(q) + 1, F.elu(k) + 1).tril()
    return weights @ v / weights.sum(-1, keepdim=True).clamp(min=1e-6)


ALTERNATIVES = [
    with_a_matrix_and_a_mask,
    token_by_token,
    values_with_a_one,
    in_float32,
    divided_by_a_millionth_at_least,
]
