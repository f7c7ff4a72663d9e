"""Right answers to `multi_head_parameters` that look nothing like the reference."""

from __future__ import annotations


def count_head_by_head(d_model, n_heads, bias):
    d, rest = divmod(d_model, n_heads)
    if rest:
        raise ValueError(rest)
    one_head = 3 * d * (d_model + (1 if bias else 0))
    return n_heads * one_head + d_model * d_model + (d_model if bias else 0)


def count_as_a_float(d_model, n_heads, bias):
    if d_model % n_heads:
        raise ValueError
    return 4.0 * (d_model**2 + d_model * bool(bias))


ALTERNATIVES = [count_head_by_head, count_as_a_float]
