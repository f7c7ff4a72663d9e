"""Wrong answers to `route` that no misconception knows by name."""

from __future__ import annotations

import torch


def exponentials_of_large_logits(logits, k):
    chosen, experts = logits.topk(k)
    return chosen.exp() / chosen.exp().sum(-1, keepdim=True), experts


def an_epsilon_of_ten_millionths(logits, k):
    p, experts = logits.softmax(-1).topk(k)
    return p / (p.sum(-1, keepdim=True) + 1e-5), experts


def all_that_reach_the_last_one(logits, k):
    """Choose all experts that reach the k-th largest logit, which are more than k if logits are equal."""
    reached = logits >= logits.topk(k).values[:, -1:]
    experts = torch.stack([row.nonzero()[:, 0] for row in reached])
    experts = experts.gather(1, logits.gather(1, experts).argsort(1, descending=True))
    return logits.gather(1, experts).softmax(-1), experts


def the_largest_one_again(logits, k):
    """Look up experts by their logit, which finds the first of equal ones each time."""
    values = logits.topk(k).values
    return values.softmax(-1), (logits[:, None] == values[..., None]).int().argmax(-1)


MUTANTS = [
    exponentials_of_large_logits,
    an_epsilon_of_ten_millionths,
    all_that_reach_the_last_one,
    the_largest_one_again,
]
