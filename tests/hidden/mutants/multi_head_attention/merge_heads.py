"""Wrong answers to `merge_heads` that no misconception knows by name."""

from __future__ import annotations

from course.reference.multi_head_attention import merge_heads


def merge_time_before_batch(x):
    return merge_heads(x).transpose(0, 1)


def merge_largest(x):
    return x.amax(1, keepdim=True).expand_as(x).transpose(1, 2).flatten(2)


def merge_first_head_only(x):
    return x[:, :1].expand_as(x).transpose(1, 2).flatten(2)


MUTANTS = [
    merge_time_before_batch,
    merge_largest,
    merge_first_head_only,
]
