"""Wrong answers to `feed_forward` that no misconception knows by name."""

from __future__ import annotations

from course.reference import encoder_decoder as reference


def words_pooled(x, W1, b1, W2, b2):
    pooled = x.mean(-2, keepdim=True).expand_as(x) if x.dim() > 1 else x
    return reference.feed_forward(pooled + 0 * x, W1, b1, W2, b2)


MUTANTS = [words_pooled]
