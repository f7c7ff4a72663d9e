"""What several of this topic's answers are made of."""

from __future__ import annotations

import math

from torch import Tensor


def weighted(weights: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return weights @ v, weights


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) @ v


def no_scale(q, k, v):
    return weighted((q @ k.mT).softmax(-1), v)


def scale_by_d(q, k, v):
    return weighted((q @ k.mT / q.size(-1)).softmax(-1), v)


def scale_after_softmax(q, k, v):
    return weighted((q @ k.mT).softmax(-1) / math.sqrt(q.size(-1)), v)


def softmax_query_dim(q, k, v):
    return weighted((q @ k.mT / math.sqrt(q.size(-1))).softmax(-2), v)


def scale_by_T(q, k, v):
    return weighted((q @ k.mT / math.sqrt(q.size(1))).softmax(-1), v)


def multiplied(q, k, v):
    return weighted((q @ k.mT * math.sqrt(q.size(-1))).softmax(-1), v)


def softmax_over_batch(q, k, v):
    return weighted((q @ k.mT / math.sqrt(q.size(-1))).softmax(0), v)


def reshaped_keys(q, k, v):
    B, S, D = k.shape
    return weighted((q @ k.reshape(B, D, S) / math.sqrt(D)).softmax(-1), v)


def normalised_without_exponential(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return weighted(scores / scores.sum(-1, keepdim=True), v)


def bare_exponentials(q, k, v):
    exponentials = (q @ k.mT / math.sqrt(q.size(-1))).exp()
    return weighted(exponentials / exponentials.sum(-1, keepdim=True), v)
