"""Right answers to `additive_scores` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def additive_by_concatenation(query, keys, W_q, W_k, v):
    """One matrix for query and key laid end to end, as the lecture writes it."""
    S = keys.shape[1]
    both = torch.cat([query[:, None].expand(-1, S, -1), keys], dim=-1)
    return F.linear(torch.tanh(F.linear(both, torch.cat([W_q, W_k], dim=1))), v[None]).squeeze(-1)


def additive_row_by_row(query, keys, W_q, W_k, v):
    rows = [torch.tanh(q @ W_q.T + k @ W_k.T) @ v for q, k in zip(query, keys, strict=True)]
    return torch.stack(rows)


ALTERNATIVES = [additive_by_concatenation, additive_row_by_row]
