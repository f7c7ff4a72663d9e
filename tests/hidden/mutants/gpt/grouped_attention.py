"""Wrong answers to `grouped_attention` that no misconception knows by name."""

from __future__ import annotations

from course.reference import gpt as reference


def any_number_of_groups(q, k, v, mask=None):
    share = -(-q.shape[1] // k.shape[1])
    k, v = (x.repeat_interleave(share, 1)[:, : q.shape[1]] for x in (k, v))
    return reference.grouped_attention(q, k, v, mask)


MUTANTS = [any_number_of_groups]
