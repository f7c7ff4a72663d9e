"""Right answers to `scaled_dot_product_attention` that look nothing like the reference."""

from __future__ import annotations

import math

import einops
import numpy as np
import torch
from torch import nn

from tests.hidden.alternatives.self_attention.scaffold import attention_by_einsum


def attention_by_loops(q, k, v):
    outputs, weights = [], []
    for queries, keys, values in zip(q, k, v, strict=True):
        rows = [torch.softmax(torch.stack([query @ key for key in keys]) / len(query) ** 0.5, 0) for query in queries]
        weights.append(torch.stack(rows))
        outputs.append(torch.stack([sum(w * value for w, value in zip(row, values, strict=True)) for row in rows]))
    return torch.stack(outputs), torch.stack(weights)


def attention_by_einops(q, k, v):
    scores = einops.einsum(q, k, "batch query width, batch key width -> batch query key") / np.sqrt(q.shape[2])
    weights = nn.functional.softmax(scores, dim=2)
    return einops.einsum(weights, v, "batch query key, batch key width -> batch query width"), weights


def attention_by_bmm(q, k, v):
    """A tuple or a list, batched or not: two results are two results."""
    scores = torch.bmm(q.contiguous(), k.permute(0, 2, 1)).div(math.sqrt(k.size(-1)))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return [weights.bmm(v), weights]


def attention_by_transposes(q, k, v):
    """Keys along the rows throughout, softmax over axis 1, and turned back at the end."""
    weights = torch.softmax(k @ q.mT * q.shape[-1] ** -0.5, dim=1)
    return (v.mT @ weights).mT, weights.mT


def attention_to_draw(q, k, v):
    """The weights that come back are for the eye, and cut off."""
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), -1)
    return weights @ v, weights.detach()


def attention_under_vmap(q, k, v):
    def one(q, k, v):
        weights = torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1)
        return weights @ v, weights

    return torch.func.vmap(one)(q, k, v)


ALTERNATIVES = [
    attention_by_einsum,
    attention_by_loops,
    attention_by_einops,
    attention_by_bmm,
    attention_by_transposes,
    attention_to_draw,
    attention_under_vmap,
]
