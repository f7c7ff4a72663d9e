"""Wrong answers to `route` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def even_weights(logits, k):
    _, experts = reference.route(logits, k)
    return torch.full(experts.shape, 1 / k, dtype=logits.dtype) + 0 * logits.sum(), experts


def worst_experts(logits, k):
    chosen, experts = logits.topk(k, largest=False)
    return chosen.softmax(-1), experts


def by_size(logits, k):
    experts = logits.abs().topk(k).indices
    return logits.gather(-1, experts).softmax(-1), experts


def whole_numbers_of_half_the_size(logits, k):
    weights, experts = reference.route(logits, k)
    return weights, experts.int()


def one_expert_less(logits, k):
    return reference.route(logits, max(1, k - 1))


def experts_of_the_whole_batch(logits, k):
    experts = logits.mean(0).topk(k).indices.expand(len(logits), k)
    return logits.gather(-1, experts).softmax(-1), experts


MUTANTS = [
    even_weights,
    worst_experts,
    by_size,
    whole_numbers_of_half_the_size,
    one_expert_less,
    experts_of_the_whole_batch,
]
