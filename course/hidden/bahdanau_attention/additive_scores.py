"""Hidden tests of `additive_scores`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bahdanau_attention.scaffold import MEET_AT_THE_END
from course.reference import bahdanau_attention as reference


@exercise(
    reference.additive_scores,
    hints=(
        "Write the score of one single key with plain vectors. Which shape has each product, and which has the tanh?",
        "Now take all keys of a batch. W_q turns the queries into (B, A), and W_k turns the keys into (B, S, A). Which "
        "axis is missing where the two are added?",
        "Begin with these two products, each on a line of its own, and print their shapes. Make their sum (B, S, A). "
        "Two steps of the formula are left: one keeps this shape, and the other takes its last axis away.",
    ),
    calls=(
        "additive_scores(zeros(1, 1), tensor([[[100.], [0.], [-100.]]]), eye(1), eye(1), tensor([2.]))",
        "additive_scores(tensor([[100.]]), tensor([[[0.], [0.]]]), eye(1), eye(1), tensor([3.]))",
        "additive_scores(tensor([[100.]]), tensor([[[-100.], [0.]]]), eye(1), eye(1), tensor([3.]))",
        "additive_scores(tensor([[100.]]), tensor([[[100.], [0.]]]), zeros(1, 1), eye(1), tensor([3.]))",
        "additive_scores(zeros(1, 1), zeros(1, 2, 1), eye(1), eye(1), tensor([5.]))",
        (
            "additive_scores(zeros(1, 1), tensor([[[100.]]]), tensor([[1.], [1.]]), tensor([[1.], [-1.]]), "
            "tensor([2., 5.]))"
        ),
    ),
)
def additive_scores(rng):
    """Q, K and A differ, except once Q = K = A. Large inputs saturate the tanh."""

    def inputs(B, S, Q, K, A, dtype=torch.float64, scale=1.0):
        query, keys = scale * rng.normal(B, Q, dtype=dtype), scale * rng.normal(B, S, K, dtype=dtype)
        weights = 0.6 * rng.normal(A, Q, dtype=dtype), 0.6 * rng.normal(A, K, dtype=dtype)
        return query, keys, *weights, rng.normal(A, dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 5, 7, 11), public=True, weight=2.0)
    yield call("a sentence of one word", *inputs(3, 1, 2, 5, 7), public=True)
    yield call("a batch of one", *inputs(1, 7, 3, 2, 5))
    yield call("as many sentences as words", *inputs(5, 5, 3, 2, 7), weight=2.0)
    yield call("queries, keys and attention of one width", *inputs(2, 3, 5, 5, 5))
    yield call("an attention of one unit", *inputs(3, 5, 2, 7, 1))
    yield call("large inputs", *inputs(2, 7, 5, 3, 11, scale=20.0), grad=False)
    f32 = inputs(2, 7, 5, 3, 11, torch.float32, scale=100.0)
    yield call("larger inputs, float32", *f32, grad=False)
    yield call("float32", *inputs(2, 5, 3, 7, 13, torch.float32), public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 7, 5, 11)), public=True
    )


def _both(query, keys, W_q, W_k):
    return (query @ W_q.T)[:, None] + keys @ W_k.T


additive_scores.mistakes(
    "Change the query. By how much does each score move? If all move alike, softmax gives the same weights.",
    no_tanh=lambda query, keys, W_q, W_k, v: _both(query, keys, W_q, W_k) @ v,
)
additive_scores.mistakes(
    "Add up your scores of one sentence. Scores may be any numbers. Which function turns them into weights?",
    softmax_already_inside=lambda *given: torch.softmax(reference.additive_scores(*given), dim=1),
)
additive_scores.mistakes(
    MEET_AT_THE_END,
    queries_without_an_axis=lambda query, keys, W_q, W_k, v: torch.tanh(query @ W_q.T + keys @ W_k.T) @ v,
)
additive_scores.mistakes(
    "A query is a row, and weights are (out, in). Write the shapes of both factors under each product.",
    W_not_transposed=lambda query, keys, W_q, W_k, v: torch.tanh(_both(query, keys, W_q.T, W_k.T)) @ v,
    W_in_front=lambda query, keys, W_q, W_k, v: W_q @ query,
)
additive_scores.mistakes(
    "Before v comes in, the shape is (B, S, A). Which of these axes should meet v and disappear?",
    v_in_front=lambda query, keys, W_q, W_k, v: v @ torch.tanh(_both(query, keys, W_q, W_k)),
    not_summed=lambda query, keys, W_q, W_k, v: torch.tanh(_both(query, keys, W_q, W_k)) * v,
    summed_over_the_keys=lambda query, keys, W_q, W_k, v: (torch.tanh(_both(query, keys, W_q, W_k)) * v).sum(1),
)
