"""Hidden tests of `linear_attention`: the sums over the past, their normaliser, and φ."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.linear_attention,
    hints=(
        "A text of one token: with which weight does it see itself, and what comes out?",
        "Write the three tokens of the worked example into your function. Compare S and z after each token.",
        "Make all values the same vector. Weights that sum to one give it back at every position. Do yours?",
        "Begin with φ of the queries and of the keys. Then write the shape of what one token adds to S, (D, Dv), and "
        "to z, (D). Which axes must k and v get for the first?",
    ),
    forbidden=("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    tolerance=1e-4,
    calls=(
        "linear_attention(zeros(1, 2, 1), zeros(1, 2, 1), tensor([[[2.], [4.]]]))",
        "linear_attention(zeros(1, 3, 1), zeros(1, 3, 1), tensor([[[3.], [5.], [1.]]]))",
        "linear_attention(zeros(1, 2, 1), tensor([[[-100.], [0.]]]), tensor([[[2.], [4.]]]))",
        "linear_attention(zeros(1, 2, 1), tensor([[[0.], [-100.]]]), tensor([[[2.], [4.]]]))",
        "linear_attention(zeros(1, 2, 1), tensor([[[0.], [2.]]]), tensor([[[4.], [8.]]]))",
        "linear_attention(zeros(1, 1, 1), tensor([[[3.]]]), tensor([[[5., 7.]]]))",
    ),
)
def linear_attention(rng):
    """All sizes apart; φ of about 1, and so small that a bound on the divisor shows and an epsilon of 1e-6 does not.

    An answer may compute in float32 inside, as much code does.
    """

    def inputs(B, T, D, Dv, dtype=torch.float64):
        return rng.normal(B, T, D, dtype=dtype), rng.normal(B, T, D, dtype=dtype), rng.normal(B, T, Dv, dtype=dtype)

    yield call("a small batch", *inputs(2, 5, 7, 3), public=True, weight=2.0)
    yield call("values wider than keys", *inputs(3, 7, 5, 11), weight=2.0)
    yield call("a longer text", *inputs(1, 23, 4, 2))
    yield call("every size the same", *inputs(5, 5, 5, 5))
    q, k = -rng.uniform(2, 2, 5, 4, low=3.5, high=4.0)  # φ(q)·φ(k) is 0.0013 to 0.0037
    yield call("queries and keys far below 0", q, k, 10 * rng.normal(2, 5, 3), tolerance=1e-3)
    yield call("a single token", *inputs(3, 1, 5, 2), weight=0.5).counts_with("a small batch")
    yield call("float32", *inputs(2, 7, 5, 3, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(x) for x in inputs(3, 5, 7, 2)), public=True)


def _mixed(scores, v, total=None):
    return scores @ v / (scores.sum(-1, keepdim=True) if total is None else total)


def _with(phi):
    return lambda q, k, v: _mixed((phi(q) @ phi(k).mT).tril(), v)


@linear_attention.misconception(
    "Make all values the same vector. Its weighted mean is that vector, whatever the weights. Is yours?"
)
def normaliser_missing(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return (q @ k.mT).tril() @ v


@linear_attention.misconception(
    "Change the last key. Does the first output move? Print what you divide by at the first position."
)
def normaliser_of_the_whole_text(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    scores = q @ k.mT
    return scores.tril() @ v / scores.sum(-1, keepdim=True)


@linear_attention.misconception("Change the last token. Which outputs move? A causal layer moves the last one alone.")
def looks_ahead(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return _mixed(q @ k.mT, v)


linear_attention.mistakes(
    "Print φ of -1. A weight below 0 is no weight, and a sum of such weights may come out as 0.",
    feature_map_is_elu=_with(F.elu),
    no_feature_map=_with(lambda x: x),
)
linear_attention.mistakes(
    "Print φ of a token of negative numbers. What is then left to divide by?",
    feature_map_is_relu=_with(F.relu),
)


linear_attention.mistakes(
    "Let all queries and keys be -4. Print what you divide by at the first position. Is it φ(q)·φ(k), or a bound?",
    divisor_of_at_least_one=lambda q, k, v: _bounded((F.elu(q) + 1) @ (F.elu(k) + 1).mT, v),
)


def _bounded(scores, v):
    return _mixed(scores.tril(), v, scores.tril().sum(-1, keepdim=True).clamp(min=1))


@linear_attention.misconception("Give it a single token. What should it see, and what does yours see?")
def own_token_left_out(q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return _mixed((q @ k.mT).tril(-1), v)
