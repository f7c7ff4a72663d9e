"""Wrong answers to `split_heads` that no misconception knows by name."""

from __future__ import annotations

from course.reference.multi_head_attention import split_heads


def split_in_float32(x, n_heads):
    return split_heads(x.float(), n_heads)


MUTANTS = [split_in_float32]
