"""Wrong answers to `balance_loss` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def always_one(logits, experts):
    return torch.ones((), dtype=logits.dtype) + 0 * logits.sum()


def twice(logits, experts):
    return 2 * reference.balance_loss(logits, experts)


def distance_from_even(logits, experts):
    return reference.balance_loss(logits, experts) - 1


def variance_of_the_load(logits, experts):
    return logits.softmax(-1).mean(0).var() * len(logits[0]) + 0 * experts.sum()


def entropy(logits, experts):
    p = logits.softmax(-1).mean(0)
    return -(p * p.log()).sum()


def times_the_tokens(logits, experts):
    return len(logits) * reference.balance_loss(logits, experts) / logits.shape[-1]


MUTANTS = [always_one, twice, distance_from_even, variance_of_the_load, entropy, times_the_tokens]
