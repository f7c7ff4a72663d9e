"""Right answers to `scaled_dot_product_attention` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def attention_by_einsum(q, k, v):
    """Half of the scale on each side."""
    root = q.shape[-1] ** 0.25
    scores = torch.einsum("btd,bsd->bts", q / root, k / root)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.einsum("bts,bse->bte", weights, v), weights


def attention_by_bmm(q, k, v):
    """Return both results in a list."""
    scores = torch.bmm(q.contiguous(), k.permute(0, 2, 1)).div(math.sqrt(k.size(-1)))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return [weights.bmm(v), weights]


def attention_to_draw(q, k, v):
    """Return detached weights, which are for display only."""
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), -1)
    return weights @ v, weights.detach()


def attention_under_vmap(q, k, v):
    def one(q, k, v):
        weights = torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1)
        return weights @ v, weights

    return torch.func.vmap(one)(q, k, v)


ALTERNATIVES = [
    attention_by_einsum,
    attention_by_bmm,
    attention_to_draw,
    attention_under_vmap,
]
