"""Right answers to `multi_head_attention` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.hidden.alternatives.multi_head_attention.scaffold import (
    attention_head_by_head,
    merge_by_cat,
    merge_by_einops,
    softmax_where,
    split_by_chunks,
    split_by_einops,
    split_by_unfolding,
)


def attention_by_einops(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = (split_by_einops(x @ W.mT, n_heads) for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e20, dtype=scores.dtype))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask, weights, torch.zeros_like(weights))
    W = W_o.unflatten(1, (n_heads, -1))  # (D, h, d)
    return torch.einsum("bhts,bhsd,ehd->bte", weights, v, W), weights


def attention_with_heads_folded_into_the_batch(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """As in many libraries: (B h, T, d), the mask repeated head by head, -inf and its NaN taken away afterwards."""
    B, T, D = x_q.shape
    if D % n_heads:
        raise ValueError("no")

    def fold(x):
        return x.reshape(B, -1, n_heads, D // n_heads).transpose(1, 2).reshape(B * n_heads, -1, D // n_heads)

    q, k, v = fold(F.linear(x_q, W_q)), fold(F.linear(x_kv, W_k)), fold(F.linear(x_kv, W_v))
    scores = torch.bmm(q / math.sqrt(D / n_heads), k.transpose(1, 2))
    if mask is not None:
        allowed = mask.expand(B, n_heads, T, x_kv.shape[1]).reshape(B * n_heads, T, -1)
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    weights = nn.Softmax(dim=-1)(scores)
    if mask is not None:
        weights = weights.nan_to_num(0.0)
    together = torch.bmm(weights, v).reshape(B, n_heads, T, -1).transpose(1, 2).reshape(B, T, D)
    return F.linear(together, W_o), weights.reshape(B, n_heads, T, -1)


def attention_with_an_additive_mask(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """-inf added where nothing is allowed, and NaN made zeros where there was nothing else."""
    q, k, v = (split_by_unfolding(F.linear(x, W), n_heads) for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    scores = torch.matmul(q, k.transpose(-2, -1)).div(math.sqrt(k.size(-1)))
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, -1))
    return merge_by_einops(weights @ v) @ W_o.mT, weights


def attention_with_float32_constants(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q = split_by_chunks(x_q @ W_q.T, n_heads)
    k, v = split_by_chunks(torch.cat([x_kv @ W_k.T, x_kv @ W_v.T], dim=0), n_heads).chunk(2)
    scores = q @ k.transpose(2, 3) / np.sqrt(np.float32(q.shape[-1]))
    weights = softmax_where(scores, mask)
    return [merge_by_cat(weights @ v) @ W_o.T, weights]


def attention_without_queries_keys_or_values(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Each head is two matrices (D, D): one that compares words with words, one that carries words over."""
    D = x_q.shape[-1]
    if D % n_heads:
        raise ValueError("no")
    q, k, v = (W.reshape(n_heads, -1, D) for W in (W_q, W_k, W_v))  # (h, d, D)
    compares = torch.einsum("hdi,hdj->hij", q, k) / (D // n_heads) ** 0.5
    carries = torch.einsum("ohd,hdj->hoj", W_o.reshape(D, n_heads, -1), v)
    weights = softmax_where(torch.einsum("bti,hij,bsj->bhts", x_q, compares, x_kv), mask)
    return torch.einsum("bhts,bsj,hoj->bto", weights, x_kv, carries), weights


def attention_to_draw(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The weights that come back are for the eye, and cut off."""
    out, weights = attention_head_by_head(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)
    return out, weights.detach()


ALTERNATIVES = [
    attention_head_by_head,
    attention_by_einops,
    attention_with_heads_folded_into_the_batch,
    attention_with_an_additive_mask,
    attention_with_float32_constants,
    attention_without_queries_keys_or_values,
    attention_to_draw,
]
