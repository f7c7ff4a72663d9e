"""Hidden tests of `scaled_dot_product_attention`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.self_attention.scaffold import BUILT_IN_ATTENTION
from course.reference import self_attention as reference


@exercise(
    reference.scaled_dot_product_attention,
    shown=(1,),
    hints=(
        "The scores are (B, T, S). What is the number at [b, i, j], and which axis of the weights has to sum to one?",
        "Draw q and k from torch.randn with D = 400. What is the variance of their products, and what should it be?",
        "Take one query of one sentence. Which function of yours gives its output, and what do all queries share?",
        "Begin with one sentence, as in the text's example. Write (T, D) and (S, D) below each other. Which of the two "
        "has to be turned, so that (T, S) comes out? Then put the axis B in front, and turn the same two axes.",
    ),
    forbidden=BUILT_IN_ATTENTION,
    calls=(
        "scaled_dot_product_attention(zeros(1, 1, 2), numbers(1, 2, 2), tensor([[[2.], [4.]]]))",
        (
            "scaled_dot_product_attention(tensor([[[100., 0.]]]), tensor([[[1., 0.], [0., 1.]]]), "
            "tensor([[[2.], [4.]]]))"
        ),
        (
            "scaled_dot_product_attention(tensor([[[100., 0.], [0., 100.]]]), tensor([[[1., 0.], [0., "
            "1.]]]), tensor([[[2.], [4.]]]))"
        ),
        (
            "scaled_dot_product_attention(tensor([[[1000., 0.]]]), tensor([[[1., 0.], [1., 5.]]]), "
            "tensor([[[2.], [4.]]]))"
        ),
        "scaled_dot_product_attention(numbers(2, 3, 4), numbers(2, 5, 4), numbers(2, 5, 6))[0].shape",
        "scaled_dot_product_attention(numbers(2, 3, 4), numbers(2, 5, 4), numbers(2, 5, 6))[1].shape",
    ),
)
def scaled_dot_product_attention(rng):
    """Five different primes for B, T, S, D, Dv. Then each in turn is one, all are equal, and scores are enormous."""

    def inputs(B, T, S, D, Dv, dtype=torch.float64):
        return rng.normal(B, T, D, dtype=dtype), rng.normal(B, S, D, dtype=dtype), rng.normal(B, S, Dv, dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 5, 7, 11), public=True, weight=2.0)
    yield call("as many queries as keys", *inputs(2, 5, 5, 3, 7), public=True)
    yield call("every size the same", *inputs(3, 3, 3, 3, 3))
    yield call("more queries than keys", *inputs(3, 13, 2, 5, 7), weight=2.0)
    yield call("a batch of one", *inputs(1, 5, 3, 11, 2))
    yield call("a single query", *inputs(5, 1, 7, 3, 2))
    yield call("a single key", *inputs(2, 3, 1, 5, 7))
    yield call("width one", *inputs(2, 3, 5, 1, 1))
    q, k, v = inputs(2, 3, 5, 7, 11)
    yield call("scores of thousands", 100 * q, 100 * k, v, grad=False)
    yield call("float32", *inputs(2, 5, 3, 7, 2, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(x) for x in inputs(3, 2, 5, 7, 3)), public=True)


def _scores(q, k, width=None):
    """Scores over the square root of the width of `q`, or over that of `width`."""
    return q @ k.mT / (width or q.shape[-1]) ** 0.5


def _times(turned):
    """The right answer, but for what q is multiplied by, `turned(k)`."""
    return lambda q, k, v: _mixed(q @ turned(k) / q.shape[-1] ** 0.5, v)


def _mixed(scores, v, dim=-1):
    weights = scores.softmax(dim)
    return weights @ v, weights


scaled_dot_product_attention.mistakes(
    "With D = 256 and unit variance in q and k, what is the variance of a score? What does softmax make of it?",
    not_scaled=lambda q, k, v: _mixed(q @ k.mT, v),
)
scaled_dot_product_attention.mistakes(
    "Variance D means a standard deviation of what? Print the variance of your scores for D = 256.",
    scaled_by_D=lambda q, k, v: _mixed(q @ k.mT / q.shape[-1], v),
)
scaled_dot_product_attention.mistakes(
    "Print the shapes of q and of what you multiply it by. Two axes of k have to change places, and a third one stays. "
    "Which are they?",
    k_not_turned=_times(lambda k: k),
    all_axes_of_k_turned=_times(lambda k: k.permute(2, 1, 0)),
)
scaled_dot_product_attention.mistakes(
    "Each output is a mixture of values. Write the shapes of weights and values in the order in which you multiply.",
    values_before_the_weights=lambda q, k, v: (v @ _scores(q, k).softmax(-1), _scores(q, k).softmax(-1)),
)
scaled_dot_product_attention.mistakes(
    "Which axis does a dot product of q and k sum over? Print the number whose root you divide by, and what it counts.",
    scaled_by_the_number_of_sentences=lambda q, k, v: _mixed(_scores(q, k, q.shape[0]), v),
)
scaled_dot_product_attention.mistakes(
    "Each query distributes its own attention. Sum your weights over each axis. Which axis gives ones?",
    softmax_over_queries=lambda q, k, v: _mixed(_scores(q, k), v, dim=-2),
)


@scaled_dot_product_attention.misconception(
    "Multiply q and k by 100. Do NaNs appear? Which of your functions is safe for large scores?"
)
def exponentials_that_overflow(q, k, v):
    exponentials = _scores(q, k).exp()
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return weights @ v, weights
