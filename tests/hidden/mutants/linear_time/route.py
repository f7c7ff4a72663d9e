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


def exponentials_of_large_logits(logits, k):
    chosen, experts = logits.topk(k)
    return chosen.exp() / chosen.exp().sum(-1, keepdim=True), experts


def an_epsilon_of_ten_millionths(logits, k):
    p, experts = logits.softmax(-1).topk(k)
    return p / (p.sum(-1, keepdim=True) + 1e-5), experts


def all_that_reach_the_last_one(logits, k):
    """Of equal logits, more than k may reach the k-th largest."""
    reached = logits >= logits.topk(k).values[:, -1:]
    experts = torch.stack([row.nonzero()[:, 0] for row in reached])
    experts = experts.gather(1, logits.gather(1, experts).argsort(1, descending=True))
    return logits.gather(1, experts).softmax(-1), experts


def the_largest_one_again(logits, k):
    """Looks the values up in the row, and finds the first of equal ones each time."""
    values = logits.topk(k).values
    return values.softmax(-1), (logits[:, None] == values[..., None]).int().argmax(-1)


MUTANTS = [
    even_weights,
    worst_experts,
    by_size,
    whole_numbers_of_half_the_size,
    one_expert_less,
    experts_of_the_whole_batch,
    exponentials_of_large_logits,
    an_epsilon_of_ten_millionths,
    all_that_reach_the_last_one,
    the_largest_one_again,
]
