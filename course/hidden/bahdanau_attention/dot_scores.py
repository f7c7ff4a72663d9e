"""Hidden tests of `dot_scores`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import bahdanau_attention as reference


@exercise(
    reference.dot_scores,
    hints=(
        "One number for each key: which axis disappears, and which operation makes it disappear?",
        "Take a query with a single one in it. What should the scores be then?",
    ),
)
def dot_scores(rng):
    """Small widths and large ones, so that a scale shows; as many sentences as words once."""

    def inputs(B, S, D, dtype=torch.float64):
        return rng.normal(B, D, dtype=dtype), rng.normal(B, S, D, dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    yield call("a wide one", *inputs(3, 5, 17), public=True)
    yield call("a sentence of one word", *inputs(3, 1, 2), public=True)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("as many sentences as words", *inputs(5, 5, 3), weight=2.0)
    yield call("as many words as numbers", *inputs(2, 7, 7))
    yield call("float32", *inputs(2, 5, 13, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 7)), public=True)


@dot_scores.misconception("Double the width by repeating every vector. Should the score not double, too?")
def dot_divided_by_the_root(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys) / query.shape[1] ** 0.5


@dot_scores.misconception(
    "Compare the scores of a key h and of 2h. Does its length count in the formula, and in yours?"
)
def cosine_for_dot(query, keys):
    return F.cosine_similarity(query[:, None], keys, dim=-1)


@dot_scores.misconception("Add up your scores of one sentence. Scores are any numbers; who makes weights of them?")
def dot_with_softmax_inside(query, keys):
    return torch.softmax(torch.einsum("bd,bsd->bs", query, keys), dim=1)


@dot_scores.misconception("Replace the second sentence of the batch. Do the scores of the first one move?")
def dot_with_every_query(query, keys):
    return torch.einsum("cd,bsd->bs", query, keys)


@dot_scores.misconception("Repeat every number of both vectors. A sum of products doubles; does yours?")
def dot_as_a_mean(query, keys):
    return (query[:, None] * keys).mean(-1)


@dot_scores.misconception("The nearest key is not the one with the largest product. What does the formula multiply?")
def dot_as_a_distance(query, keys):
    return -((query[:, None] - keys) ** 2).sum(-1)


@dot_scores.misconception("Turn a key round, h to -h. What should happen to its score?")
def dot_without_a_sign(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys).abs()
