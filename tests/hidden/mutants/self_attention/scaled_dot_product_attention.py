"""Wrong answers to `scaled_dot_product_attention` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from tests.hidden.mutants.self_attention.scaffold import (
    _attention,
    bare_exponentials,
    multiplied,
    no_scale,
    normalised_without_exponential,
    reshaped_keys,
    scale_after_softmax,
    scale_by_d,
    scale_by_T,
    softmax_over_batch,
    softmax_query_dim,
    weighted,
)


def kq_swapped(q, k, v):
    return weighted((k @ q.mT / math.sqrt(q.size(-1))).softmax(-1), v)


def hardmax(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return weighted(F.one_hot(scores.argmax(-1), scores.size(-1)).to(v), v)


def mean_v(q, k, v):
    return weighted((0 * (q @ k.mT)).softmax(-1), v)


def weights_cut_from_the_output(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights.detach() @ v, weights


def query_scaled_in_place(q, k, v):
    q /= math.sqrt(q.size(-1))
    return weighted((q @ k.mT).softmax(-1), v)


def one_batch_for_all(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v[:1].expand_as(v), weights


def output_alone(q, k, v):
    return _attention(q, k, v)


def float32_inside(q, k, v):
    weights = (q.float() @ k.float().mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v.float(), weights


def dropout_left_on(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return F.dropout(weights, 0.1) @ v, weights


def causal(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return weighted(scores.masked_fill(future, -1e9).softmax(-1), v)


MUTANTS = [
    no_scale,
    scale_by_d,
    scale_after_softmax,
    softmax_query_dim,
    kq_swapped,
    hardmax,
    mean_v,
    scale_by_T,
    multiplied,
    softmax_over_batch,
    reshaped_keys,
    normalised_without_exponential,
    bare_exponentials,
    weights_cut_from_the_output,
    query_scaled_in_place,
    one_batch_for_all,
    output_alone,
    float32_inside,
    dropout_left_on,
    causal,
]
