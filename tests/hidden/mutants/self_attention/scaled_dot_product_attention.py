"""Wrong answers to `scaled_dot_product_attention`: a beginner's first attempts, and one that cuts the gradient."""

from __future__ import annotations

# -- first attempts ----------------------------------------------------------------------------------------------------


def output_alone(q, k, v):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


FIRST_ATTEMPTS = {
    output_alone: "expected a tuple, got a tensor",
}

# -- others ------------------------------------------------------------------------------------------------------------


def weights_cut_from_the_output(q, k, v):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return weights.detach() @ v, weights


MUTANTS = [weights_cut_from_the_output]
