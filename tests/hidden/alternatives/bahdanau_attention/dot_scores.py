"""Right answers to `dot_scores` that look nothing like the reference."""

from __future__ import annotations

import torch


def dot_by_einsum(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys)


def dot_by_sum(query, keys):
    return (query.unsqueeze(1) * keys).sum(-1)


ALTERNATIVES = [dot_by_einsum, dot_by_sum]
