"""Wrong answers to `merge_heads` that no misconception knows by name."""

from __future__ import annotations

from course.reference.multi_head_attention import merge_heads


def merge_time_before_batch(x):
    return merge_heads(x).transpose(0, 1)


def merge_columns_first(x):
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1)


def merge_transposed_wrongly(x):
    return x.transpose(2, 3).transpose(1, 3).flatten(2)


def merge_largest(x):
    return x.amax(1, keepdim=True).expand_as(x).transpose(1, 2).flatten(2)


def merge_first_head_only(x):
    return x[:, :1].expand_as(x).transpose(1, 2).flatten(2)


MUTANTS = [
    merge_time_before_batch,
    merge_columns_first,
    merge_transposed_wrongly,
    merge_largest,
    merge_first_head_only,
]
