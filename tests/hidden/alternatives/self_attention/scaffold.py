"""What several of this topic's answers are made of."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def one_by_einsum(query, keys, values):
    weights = F.softmax(torch.einsum("d,sd->s", query, keys) / query.numel() ** 0.5, dim=-1)
    return torch.einsum("s,se->e", weights, values)


def attention_by_einsum(q, k, v):
    """Half of the scale on each side."""
    root = q.shape[-1] ** 0.25
    scores = torch.einsum("btd,bsd->bts", q / root, k / root)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.einsum("bts,bse->bte", weights, v), weights
