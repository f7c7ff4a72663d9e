"""Wrong answers to `decoder_parameters` that no misconception knows by name."""

from __future__ import annotations

from course.reference.gpt import decoder_parameters as right


def one_norm_a_layer(V, D, layers, *rest):
    return right(V, D, layers, *rest) - layers * D


def biases_of_attention_alone(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0):
    lost = layers * ((1 + gated) * F + D) if bias else 0
    return right(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions) - lost


def output_bias(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0):
    return right(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions) + bias * V


def norm_behind_the_embedding(V, D, *rest):
    return right(V, D, *rest) + D


def rounded(*asked):
    return round(right(*asked), -3)


MUTANTS = [one_norm_a_layer, biases_of_attention_alone, output_bias, norm_behind_the_embedding, rounded]
