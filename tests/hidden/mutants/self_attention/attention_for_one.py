"""Wrong answers to `attention_for_one` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def exponentials_alone(query, keys, values):
    return (keys @ query / len(query) ** 0.5).exp() @ values


def multiplied_for_one(query, keys, values):
    return torch.softmax(keys @ query * len(query) ** 0.5, 0) @ values


def cosine_scores(query, keys, values):
    return torch.softmax(F.cosine_similarity(keys, query[None], dim=1), 0) @ values


def unweighted_sum(query, keys, values):
    return values.sum(0) + 0 * (keys @ query).sum()


def mean_for_sum(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, 0) @ values / len(keys)


def only_the_best_key(query, keys, values):
    return values[(keys @ query).argmax()] + 0 * (keys @ query).sum()


def output_and_weights(query, keys, values):
    weights = torch.softmax(keys @ query / len(query) ** 0.5, 0)
    return weights @ values, weights


MUTANTS = [
    exponentials_alone,
    multiplied_for_one,
    cosine_scores,
    only_the_best_key,
    unweighted_sum,
    mean_for_sum,
    output_and_weights,
]
