"""Wrong answers to `scaled_dot_product_attention`: a beginner's first attempts, and one that cuts the gradient."""

from __future__ import annotations

# -- first attempts ----------------------------------------------------------------------------------------------------


def k_not_turned(q, k, v):
    weights = (q @ k / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v, weights


def all_axes_of_k_turned(q, k, v):
    weights = (q @ k.T / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v, weights


def softmax_over_queries(q, k, v):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(1)
    return weights @ v, weights


def divided_by_the_root_of_the_batch(q, k, v):
    weights = (q @ k.mT / len(q) ** 0.5).softmax(-1)
    return weights @ v, weights


def values_before_the_weights(q, k, v):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return v @ weights, weights


def output_alone(q, k, v):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


FIRST_ATTEMPTS = {
    k_not_turned: "Two axes of k have to change places",
    all_axes_of_k_turned: "Two axes of k have to change places",
    softmax_over_queries: "Which axis gives ones?",
    divided_by_the_root_of_the_batch: "Print the number whose root you divide by",
    values_before_the_weights: "in the order in which you multiply",
    output_alone: "expected a tuple, got a tensor",
}

# -- others ------------------------------------------------------------------------------------------------------------


def weights_cut_from_the_output(q, k, v):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return weights.detach() @ v, weights


MUTANTS = [weights_cut_from_the_output]
