"""Hidden tests of `dot_scores`."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.hidden.bahdanau_attention.scaffold import MEET_AT_THE_END, OF_ONE_SENTENCE, ONE_NUMBER, SHAPE_OF_T
from course.reference import bahdanau_attention as reference


@exercise(
    reference.dot_scores,
    hints=(
        "A score is one number for one query and one key. Which axis of the keys disappears in the sum?",
        "Take a query of zeros with a single 1. Which numbers of the keys should the scores be?",
        "Begin with one sentence. Its query is (D,) and its keys are (S, D), and a product of the two gives (S,). For "
        "a batch, write (B, D) and (B, S, D) below each other. Where does the query need a new axis?",
    ),
    calls=(
        "dot_scores(tensor([[1., 2.]]), tensor([[[1., 0.], [0., 1.], [1., 1.]]]))",
        "dot_scores(tensor([[0., 0.]]), tensor([[[1., 0.], [0., 1.]]]))",
        "dot_scores(tensor([[1., 1.], [2., 0.]]), tensor([[[1., 2.]], [[3., 4.]]]))",
        "dot_scores(tensor([[1., -1.]]), tensor([[[3., 3.], [5., 1.]]]))",
        "dot_scores(numbers(2, 4), numbers(2, 3, 4)).shape",
        "dot_scores(tensor([[2.]]), tensor([[[3.]]]))",
    ),
)
def dot_scores(rng):
    """Small widths and large ones, so that a scale shows. As many sentences as words once."""

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


dot_scores.mistakes(
    "Double the width by writing every vector twice. Do your scores double, as a sum of products does?",
    dot_divided_by_the_root=lambda query, keys: reference.dot_scores(query, keys) / query.shape[1] ** 0.5,
)
dot_scores.mistakes(
    "Compare the scores of a key h and of 2h. Does the length of a key count in the formula, and in your code?",
    cosine_for_dot=lambda query, keys: F.cosine_similarity(query[:, None], keys, dim=-1),
)
dot_scores.mistakes(
    "Add up your scores of one sentence. Scores may be any numbers. Which function turns them into weights?",
    dot_with_softmax_inside=lambda query, keys: torch.softmax(reference.dot_scores(query, keys), dim=1),
)
dot_scores.mistakes(
    OF_ONE_SENTENCE,
    every_query_with_every_key=lambda query, keys: query @ keys.mT,
    every_key_with_every_query=lambda query, keys: keys @ query.T,
)
dot_scores.mistakes(MEET_AT_THE_END, query_without_an_axis=lambda query, keys: (query * keys).sum(-1))
dot_scores.mistakes(SHAPE_OF_T, all_axes_turned=lambda query, keys: query @ keys.permute(2, 1, 0))
dot_scores.mistakes(
    ONE_NUMBER,
    dot_summed_over_the_keys=lambda query, keys: (query[:, None] * keys).sum(1),
)
