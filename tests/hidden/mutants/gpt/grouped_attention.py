"""Wrong answers to `grouped_attention` that no misconception knows by name."""

from __future__ import annotations

from course.reference import gpt as reference


def any_number_of_groups(q, k, v, mask=None):
    share = -(-q.shape[1] // k.shape[1])
    k, v = (x.repeat_interleave(share, 1)[:, : q.shape[1]] for x in (k, v))
    return reference.grouped_attention(q, k, v, mask)


def values_by_another_group(q, k, v, mask=None):
    return reference.grouped_attention(q, k, v.roll(1, 1), mask)


def softmax_over_queries(q, k, v, mask=None):
    if q.shape[1] % k.shape[1]:
        raise ValueError
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return (scores if mask is None else scores.masked_fill(~mask, -1e30)).softmax(-2) @ v


def mask_ignored(q, k, v, mask=None):
    return reference.grouped_attention(q, k, v)


def scaled_by_the_groups(q, k, v, mask=None):
    return reference.grouped_attention(q / k.shape[1] ** 0.5, k, v, mask)


MUTANTS = [any_number_of_groups, values_by_another_group, softmax_over_queries, mask_ignored, scaled_by_the_groups]
