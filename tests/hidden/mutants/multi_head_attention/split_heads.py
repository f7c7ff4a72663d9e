"""Wrong answers to `split_heads` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference.multi_head_attention import split_heads
from tests.hidden.mutants.multi_head_attention.scaffold import demand_whole_heads


def split_heads_backwards(x, n_heads):
    return split_heads(x, n_heads).flip(1)


def split_over_the_batch(x, n_heads):
    demand_whole_heads(x.shape[-1], n_heads)
    B, T, D = x.shape
    return x.reshape(n_heads, B, T, D // n_heads).transpose(0, 1)


def split_padded(x, n_heads):
    """Zeros where the width does not suffice, instead of an error."""
    return split_heads(F.pad(x, (0, -x.shape[-1] % n_heads)), n_heads)


def split_in_float32(x, n_heads):
    return split_heads(x.float(), n_heads)


def split_detached(x, n_heads):
    return split_heads(x.detach(), n_heads)


MUTANTS = [
    split_heads_backwards,
    split_over_the_batch,
    split_padded,
    split_in_float32,
    split_detached,
]
