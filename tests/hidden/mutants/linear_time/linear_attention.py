"""Wrong answers to `linear_attention` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import linear_time as reference


def feature_map_on_the_key_alone(q, k, v):
    scores = (q.abs() @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True)


def feature_map_is_softplus(q, k, v):
    scores = (F.softplus(q) @ F.softplus(k).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True)


def queries_and_keys_exchanged(q, k, v):
    return reference.linear_attention(k, q, v)


def reversed_in_time(q, k, v):
    return reference.linear_attention(q.flip(1), k.flip(1), v.flip(1)).flip(1)


def a_large_epsilon(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / (scores.sum(-1, keepdim=True) + 1e-2)


def normaliser_without_a_gradient(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True).detach()


def a_mean_over_the_past(q, k, v):
    return v.cumsum(1) / torch.arange(1, v.shape[1] + 1)[:, None] + 0 * (q + k).sum()


def divided_by_a_hundredth_at_least(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True).clamp(min=1e-2)


def an_epsilon_of_ten_millionths(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / (scores.sum(-1, keepdim=True) + 1e-5)


MUTANTS = [
    feature_map_on_the_key_alone,
    feature_map_is_softplus,
    queries_and_keys_exchanged,
    reversed_in_time,
    a_large_epsilon,
    normaliser_without_a_gradient,
    a_mean_over_the_past,
    divided_by_a_hundredth_at_least,
    an_epsilon_of_ten_millionths,
]
