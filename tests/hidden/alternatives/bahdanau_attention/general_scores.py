"""Right answers to `general_scores` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def general_by_einsum(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, W, keys)


def general_by_bilinear(query, keys, W):
    S = keys.shape[1]
    return F.bilinear(query[:, None].repeat(1, S, 1), keys.contiguous(), W[None].contiguous())[..., 0]


ALTERNATIVES = [general_by_einsum, general_by_bilinear]
