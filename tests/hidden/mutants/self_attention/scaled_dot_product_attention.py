"""Wrong answers to `scaled_dot_product_attention` that no misconception knows by name."""

from __future__ import annotations

import math

from torch.nn import functional as F


def _weighted(weights, v):
    return weights @ v, weights


def hardmax(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return _weighted(F.one_hot(scores.argmax(-1), scores.size(-1)).to(v), v)


def mean_v(q, k, v):
    return _weighted((0 * (q @ k.mT)).softmax(-1), v)


def weights_cut_from_the_output(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights.detach() @ v, weights


def query_scaled_in_place(q, k, v):
    q /= math.sqrt(q.size(-1))
    return _weighted((q @ k.mT).softmax(-1), v)


def one_batch_for_all(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v[:1].expand_as(v), weights


def output_alone(q, k, v):
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) @ v


def float32_inside(q, k, v):
    weights = (q.float() @ k.float().mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v.float(), weights


def dropout_left_on(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return F.dropout(weights, 0.1) @ v, weights


MUTANTS = [
    hardmax,
    mean_v,
    weights_cut_from_the_output,
    query_scaled_in_place,
    one_batch_for_all,
    output_alone,
    float32_inside,
    dropout_left_on,
]
