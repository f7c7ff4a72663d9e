"""Wrong answers to `balance_loss` that no misconception knows by name."""

from __future__ import annotations

from course.reference import linear_time as reference


def times_the_tokens(logits, experts):
    return len(logits) * reference.balance_loss(logits, experts) / logits.shape[-1]


MUTANTS = [times_the_tokens]
