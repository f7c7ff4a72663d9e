"""Hidden tests of `general_scores`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import bahdanau_attention as reference


@exercise(
    reference.general_scores,
    hints=(
        "Print the three shapes, and write the product of a single query, W and a single key on paper.",
        "Take a query of zeros with a single 1 at position i. Which part of W can you then read off the scores?",
        "Let W be the identity. Which function of yours should come out, and can it do the second half of the work?",
    ),
)
def general_scores(rng):
    """Q and K differ. Where they are equal, W is far from symmetric."""

    def inputs(B, S, Q, K, dtype=torch.float64):
        return rng.normal(B, Q, dtype=dtype), rng.normal(B, S, K, dtype=dtype), rng.normal(Q, K, dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 5, 7), public=True, weight=2.0)
    yield call("queries and keys of one width", *inputs(2, 7, 3, 3), public=True, weight=2.0)
    yield call("a sentence of one word", *inputs(3, 1, 2, 5), public=True)
    yield call("a batch of one", *inputs(1, 7, 3, 2))
    yield call("as many sentences as words", *inputs(5, 5, 3, 2))
    yield call("float32", *inputs(2, 5, 3, 13, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 7, 5)), public=True)


general_scores.mistakes(
    "Take a query of zeros with a single 1 at position 0. Do your scores use the first row of W, or its first column?",
    general_transposed=lambda query, keys, W: reference.general_scores(
        query, keys, W.T if W.shape[0] == W.shape[1] else W
    ),
)
general_scores.mistakes(
    "Large scores come out small. Is there a function around your product?",
    general_with_tanh=lambda query, keys, W: torch.einsum("bk,bsk->bs", torch.tanh(query @ W), keys),
)
general_scores.mistakes(
    "Compare your operations with the formula, one by one. Which number do you divide by?",
    general_divided_by_the_root=lambda query, keys, W: reference.general_scores(query, keys, W) / keys.shape[2] ** 0.5,
)
general_scores.mistakes(
    "Add up your scores of one sentence. Scores may be any numbers. Which function turns them into weights?",
    general_with_softmax_inside=lambda *given: torch.softmax(reference.general_scores(*given), dim=1),
)
general_scores.mistakes(
    "Replace the second sentence of the batch. Do the scores of the first sentence change?",
    general_with_every_query=lambda query, keys, W: torch.einsum("cq,qk,bsk->bs", query, W, keys),
)
