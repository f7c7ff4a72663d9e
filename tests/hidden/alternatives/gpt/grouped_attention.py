"""Right answers to `grouped_attention` that look nothing like the reference."""

from __future__ import annotations

import torch


def heads_in_groups(q, k, v, mask=None):
    """The queries of a group beside each other: (B, g, h/g, T, d)."""
    B, h, T, d = q.shape
    g, S = k.shape[1:3]
    if h % g:
        raise ValueError(f"{g} groups and {h} heads")
    scores = torch.einsum("bgntd,bgsd->bgnts", q.reshape(B, g, h // g, T, d), k) / d**0.5
    if mask is not None:
        allowed = mask.expand(B, h, T, S).reshape(scores.shape)
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1))
    return torch.einsum("bgnts,bgsd->bgntd", weights, v).reshape(B, h, T, v.shape[-1])


def by_indexing(q, k, v, mask=None):
    share, rest = divmod(q.shape[1], k.shape[1])
    if rest:
        raise ValueError("groups of unequal size")
    group = torch.arange(q.shape[1]) // share
    scores = torch.matmul(q, k[:, group].mT) / torch.tensor(q.shape[-1]).sqrt()
    exponentials = (scores - scores.amax(-1, keepdim=True).detach()).exp()
    if mask is not None:
        exponentials = exponentials * mask
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / torch.where(total > 0, total, 1.0) @ v[:, group]


ALTERNATIVES = [heads_in_groups, by_indexing]
