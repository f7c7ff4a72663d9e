"""Hidden tests of `additive_scores`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bahdanau_attention.scaffold import tanh
from course.reference import bahdanau_attention as reference


@exercise(
    reference.additive_scores,
    hints=(
        "Print the shapes of W_q applied to the query and of W_k applied to the keys. Which axis is missing?",
        "Write the score of one single key with plain vectors first. Then let all keys in at once.",
        "Change the query and keep the keys. Do the differences between the scores of two keys change?",
    ),
)
def additive_scores(rng):
    """Q, K and A never equal, except once Q = K = A; large inputs saturate the tanh."""

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


@additive_scores.misconception(
    "Feed inputs of size 100, in float32, and print the largest exponential. What is one such divided by another?"
)
def tanh_overflows(query, keys, W_q, W_k, v):
    a = _both(query, keys, W_q, W_k)
    return (a.exp() - (-a).exp()) / (a.exp() + (-a).exp()) @ v


@additive_scores.misconception(
    "Change the query: by how much does each score move? If all move alike, softmax will not notice."
)
def no_tanh(query, keys, W_q, W_k, v):
    return _both(query, keys, W_q, W_k) @ v


@additive_scores.misconception("Can a score of yours exceed 1? What does the formula do after the tanh?")
def tanh_after_v(query, keys, W_q, W_k, v):
    return tanh(_both(query, keys, W_q, W_k) @ v)


@additive_scores.misconception("Add up your scores of one sentence. Scores are any numbers; who makes weights of them?")
def softmax_already_inside(query, keys, W_q, W_k, v):
    return torch.softmax(tanh(_both(query, keys, W_q, W_k)) @ v, dim=1)


@additive_scores.misconception("Where do query and key meet: before the tanh, or after it? Try it with one unit.")
def query_added_after_the_tanh(query, keys, W_q, W_k, v):
    return ((query @ W_q.T)[:, None] + tanh(keys @ W_k.T)) @ v


@additive_scores.misconception("How many tanh are in the formula? Two that never meet cannot compare anything.")
def a_tanh_for_each(query, keys, W_q, W_k, v):
    return (tanh(query @ W_q.T)[:, None] + tanh(keys @ W_k.T)) @ v


@additive_scores.misconception("How many tanh are in the formula? What does the outer one still see of large inputs?")
def a_tanh_for_each_and_for_both(query, keys, W_q, W_k, v):
    return tanh(tanh(query @ W_q.T)[:, None] + tanh(keys @ W_k.T)) @ v


@additive_scores.misconception("Scale v by ten. Should the scores not grow tenfold?")
def v_left_out(query, keys, W_q, W_k, v):
    return tanh(_both(query, keys, W_q, W_k)).sum(-1) + 0 * v.sum()


@additive_scores.misconception("A division has come in from another paper. Count the operations of the formula.")
def scaled_by_the_width(query, keys, W_q, W_k, v):
    return tanh(_both(query, keys, W_q, W_k)) @ v / len(v) ** 0.5


@additive_scores.misconception("A division has come in from another paper. Count the operations of the formula.")
def scaled_by_the_width_of_the_query(query, keys, W_q, W_k, v):
    return tanh(_both(query, keys, W_q, W_k)) @ v / query.shape[1] ** 0.5


@additive_scores.misconception(
    "Print what v is multiplied with. Can any of those numbers be negative in yours, and can they in the formula?"
)
def relu_for_tanh(query, keys, W_q, W_k, v):
    return torch.relu(_both(query, keys, W_q, W_k)) @ v


@additive_scores.misconception(
    "Print what v is multiplied with. Can any of those numbers be negative in yours, and can they in the formula?"
)
def sigmoid_for_tanh(query, keys, W_q, W_k, v):
    return torch.sigmoid(_both(query, keys, W_q, W_k)) @ v


@additive_scores.misconception("Repeat every row of W_q, W_k and v. Should a score not double?")
def mean_over_the_units(query, keys, W_q, W_k, v):
    return (tanh(_both(query, keys, W_q, W_k)) * v).mean(-1)


@additive_scores.misconception("Make W_q and W_k the same, and a key equal to the query. Do the two add up, or cancel?")
def query_subtracted(query, keys, W_q, W_k, v):
    return tanh(keys @ W_k.T - (query @ W_q.T)[:, None]) @ v


@additive_scores.misconception("Replace the second sentence of the batch. Do the scores of the first one move?")
def queries_of_other_sentences(query, keys, W_q, W_k, v):
    B, S, _ = keys.shape
    mixed = query.repeat(S, 1).reshape(B, S, -1)
    return tanh(mixed @ W_q.T + keys @ W_k.T) @ v


@additive_scores.misconception("Set the query to zero. In the formula the scores still depend on the keys: do yours?")
def a_product_for_the_sum(query, keys, W_q, W_k, v):
    return tanh((query @ W_q.T)[:, None] * (keys @ W_k.T)) @ v


@additive_scores.misconception("Set all keys to zero. What is left must still depend on the query: does it?")
def query_forgotten(query, keys, W_q, W_k, v):
    return tanh(keys @ W_k.T + 0 * (query @ W_q.T)[:, None]) @ v
