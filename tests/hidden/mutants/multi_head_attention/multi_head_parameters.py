"""Wrong answers to `multi_head_parameters` that no misconception knows by name."""

from __future__ import annotations

from course.reference import multi_head_attention as reference


def one_bias_a_layer(d_model, n_heads, bias):
    return reference.multi_head_parameters(d_model, n_heads, False) + 4 * bias


MUTANTS = [one_bias_a_layer]
