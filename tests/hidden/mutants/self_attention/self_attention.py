"""Wrong answers to `self_attention`: a beginner's first attempts, and one that no misconception knows by name."""

from __future__ import annotations

from course.reference.self_attention import scaled_dot_product_attention


def values_not_transposed(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x @ W_v)[0]


MUTANTS = [values_not_transposed]
