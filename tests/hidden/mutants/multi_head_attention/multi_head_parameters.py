"""Wrong answers to `multi_head_parameters` that no misconception knows by name."""

from __future__ import annotations

from tests.hidden.mutants.multi_head_attention.scaffold import demand_whole_heads


def three_matrices_and_a_share(d_model, n_heads, bias):
    demand_whole_heads(d_model, n_heads)
    return (3 * d_model + d_model // n_heads) * (d_model + bias)


def square_of_everything(d_model, n_heads, bias):
    demand_whole_heads(d_model, n_heads)
    return (4 * d_model) ** 2 + 4 * d_model * bias


def one_bias_a_layer(d_model, n_heads, bias):
    demand_whole_heads(d_model, n_heads)
    return 4 * d_model * d_model + 4 * bias


MUTANTS = [three_matrices_and_a_share, square_of_everything, one_bias_a_layer]
