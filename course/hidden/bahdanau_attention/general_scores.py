"""Hidden tests of `general_scores`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bahdanau_attention.scaffold import MEET_AT_THE_END, OF_ONE_SENTENCE, ONE_NUMBER, SHAPE_OF_T
from course.reference import bahdanau_attention as reference


@exercise(
    reference.general_scores,
    hints=(
        "Write the product of a single query, W and a single key on paper. Which axis of W meets the query?",
        "Take a query of zeros with a single 1 at position i. Which part of W can you then read off the scores?",
        "Begin with the queries and W, as in the text's example, and print the shape of what they make. Which function "
        "of yours could do the second half of the work?",
    ),
    calls=(
        "general_scores(tensor([[1., 2.]]), tensor([[[1., 0.], [0., 1.]]]), eye(2))",
        "general_scores(tensor([[1., 2.]]), tensor([[[1., 0.], [0., 1.]]]), tensor([[0., 1.], [0., 0.]]))",
        "general_scores(tensor([[1., 2.]]), tensor([[[1., 0.], [0., 1.]]]), zeros(2, 2))",
        "general_scores(tensor([[1., 0.]]), tensor([[[1., 0.], [0., 1.]]]), tensor([[2., 3.], [4., 5.]]))",
        "general_scores(tensor([[1., 1.]]), tensor([[[1., 1.]]]), tensor([[2., 3.], [4., 5.]]))",
        "general_scores(numbers(2, 3), numbers(2, 5, 4), numbers(3, 4)).shape",
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
    "Compare your operations with the formula, one by one. Which number do you divide by?",
    general_divided_by_the_root=lambda query, keys, W: reference.general_scores(query, keys, W) / keys.shape[2] ** 0.5,
)
general_scores.mistakes(
    "Add up your scores of one sentence. Scores may be any numbers. Which function turns them into weights?",
    general_with_softmax_inside=lambda *given: torch.softmax(reference.general_scores(*given), dim=1),
)
general_scores.mistakes(
    OF_ONE_SENTENCE,
    every_query_with_every_key=lambda query, keys, W: query @ W @ keys.mT,
)
general_scores.mistakes(MEET_AT_THE_END, query_without_an_axis=lambda query, keys, W: (query @ W * keys).sum(-1))
general_scores.mistakes(SHAPE_OF_T, all_axes_turned=lambda query, keys, W: query @ W @ keys.permute(2, 1, 0))
general_scores.mistakes(
    ONE_NUMBER,
    general_summed_over_the_keys=lambda query, keys, W: ((query @ W)[:, None] * keys).sum(1),
)
general_scores.mistakes(
    "A key is a row of its sentence. Write the shapes of W and of the keys under your product. Which axes meet?",
    W_in_front_of_the_keys=lambda query, keys, W: query @ (W @ keys),
)
