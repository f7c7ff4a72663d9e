"""Hidden tests of `self_attention`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.self_attention.scaffold import BUILT_IN_ATTENTION
from course.reference import self_attention as reference


@exercise(
    reference.self_attention,
    hints=(
        "Each word becomes a query, a key and a value. Write down the shapes of all three, for a batch of x.",
        "Set W_v to zero, then only W_k. What should the output be each time? And what, if all words are the same?",
        "Begin with the queries. The words are rows of x, and W_q is (D, Din), as in nn.Linear, so write both shapes "
        "below each other. (B, T, D) has to come out. Keys and values are made alike, and which function of yours is "
        "left then?",
    ),
    forbidden=BUILT_IN_ATTENTION,
    calls=(
        "self_attention(zeros(1, 2, 2), eye(2), eye(2), eye(2))",
        "self_attention(tensor([[[2., 0.], [4., 0.]]]), zeros(2, 2), eye(2), eye(2))",
        "self_attention(tensor([[[100., 0.], [0., 100.]]]), eye(2), eye(2), eye(2))",
        "self_attention(tensor([[[100., 0.], [0., 100.]]]), eye(2), eye(2), tensor([[0., 1.]]))",
        "self_attention(tensor([[[3., 5.]]]), eye(2), eye(2), tensor([[1., 1.]]))",
        "self_attention(tensor([[[100., 0.], [0., 100.]]]), tensor([[0., 1.], [1., 0.]]), eye(2), eye(2))",
    ),
)
def self_attention(rng):
    """Din, D and Dv differ, so a forgotten transpose fails. One square case tells which one was forgotten."""

    def inputs(B, T, Din, D, Dv, dtype=torch.float64):
        x = rng.normal(B, T, Din, dtype=dtype)
        shapes = ((D, Din), (D, Din), (Dv, Din))
        return x, *(rng.normal(*shape, dtype=dtype) for shape in shapes)

    yield call("a small batch", *inputs(2, 3, 7, 5, 11), public=True, weight=2.0)
    yield call("square weights", *inputs(3, 2, 5, 5, 5), public=True)
    yield call("a long sentence, a narrow head", *inputs(2, 13, 5, 2, 3), weight=2.0)
    yield call("as many words as dimensions", *inputs(2, 5, 5, 5, 5))
    yield call("a single word", *inputs(3, 1, 5, 2, 7))
    yield call("a batch of one", *inputs(1, 5, 3, 7, 2))
    x, W_q, W_k, W_v = inputs(2, 5, 3, 7, 2)
    yield call("words of size 100", 100 * x, W_q, W_k, W_v, grad=False)
    yield call("float32", *inputs(2, 3, 5, 7, 2, dtype=torch.float32), public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(tensor) for tensor in inputs(2, 5, 3, 2, 7)), public=True
    )


def _attend(q, k, v):
    return reference.scaled_dot_product_attention(q, k, v)[0]


self_attention.mistakes(
    "Words are rows of x, and weights are (out, in), which square matrices hide. Write the shapes of both factors "
    "under each product.",
    weights_in_front=lambda x, W_q, W_k, W_v: _attend(W_q @ x, W_k @ x, W_v @ x),
    weights_not_transposed=lambda x, W_q, W_k, W_v: _attend(x @ W_q, x @ W_k, x @ W_v),
)
self_attention.mistakes(
    "Set W_v to zero. What should come out? A word offers its value, not itself.",
    words_used_as_values=lambda x, W_q, W_k, W_v: _attend(x @ W_q.T, x @ W_k.T, x),
)
self_attention.mistakes(
    "Exchange W_q and W_k in your call. Should the output change? Which matrix belongs to the word that looks?",
    queries_and_keys_swapped=lambda x, W_q, W_k, W_v: _attend(x @ W_k.T, x @ W_q.T, x @ W_v.T),
)


@self_attention.misconception(
    "Scores are dot products of queries and keys. Whose width counts for the scale, theirs or that of x?"
)
def scaled_by_the_width_of_x(x, W_q, W_k, W_v):
    scores = x @ W_q.T @ (x @ W_k.T).mT / x.shape[-1] ** 0.5
    return scores.softmax(-1) @ (x @ W_v.T)


@self_attention.misconception(
    "Print the weights of one word that asks. Along which axis do they add up to one, and what does that axis count?"
)
def softmax_over_the_words_that_ask(x, W_q, W_k, W_v):
    scores = x @ W_q.T @ (x @ W_k.T).mT / W_q.shape[0] ** 0.5
    return scores.softmax(-2) @ (x @ W_v.T)


self_attention.mistakes(
    "Your attention divides by the root already. How large is the variance of its scores for D = 400?",
    scaled_twice=lambda x, W_q, W_k, W_v: _attend(x @ W_q.T / len(W_q) ** 0.5, x @ W_k.T, x @ W_v.T),
)
self_attention.mistakes(
    "Your attention returns two results. Which of them holds the new words?",
    weights_returned_too=lambda x, *W: reference.scaled_dot_product_attention(*(x @ w.T for w in W)),
)
