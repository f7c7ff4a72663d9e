"""Wrong answers to `self_attention`: a beginner's first attempts, and one that no misconception knows by name."""

from __future__ import annotations

from course.reference.self_attention import scaled_dot_product_attention

# -- first attempts ----------------------------------------------------------------------------------------------------


def as_the_formula_is_written(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(W_q @ x, W_k @ x, W_v @ x)[0]


def not_transposed(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)[0]


def both_results(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x @ W_v.T)


def words_for_values(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x)[0]


def scaled_twice(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q.T / len(W_q) ** 0.5, x @ W_k.T, x @ W_v.T)[0]


FIRST_ATTEMPTS = {
    as_the_formula_is_written: "Write the shapes of both factors under each product.",
    not_transposed: "Write the shapes of both factors under each product.",
    both_results: "Which of them holds the new words?",
    words_for_values: "A word offers its value, not itself.",
    scaled_twice: "Your attention divides by the root already.",
}

# -- others ------------------------------------------------------------------------------------------------------------


def values_not_transposed(x, W_q, W_k, W_v):
    return scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x @ W_v)[0]


MUTANTS = [values_not_transposed]
