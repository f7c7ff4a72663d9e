"""Hidden tests of `attention_for_one`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.self_attention.scaffold import BUILT_IN_ATTENTION
from course.reference import self_attention as reference


@exercise(
    reference.attention_for_one,
    hints=(
        "Four steps: score, scale, softmax, mix. Say for the text's table which shape comes out of each.",
        "How many scores does one word get, and how many weights? What do the weights sum to?",
        "Begin with the products of all keys with the query. For the text's table they are 0, 2 and 4. Print the "
        "shapes (S, D) and (D,) in the order in which you multiply them. In the last step, which axis disappears?",
    ),
    forbidden=BUILT_IN_ATTENTION,
    calls=(
        "attention_for_one(zeros(4), numbers(2, 4), tensor([[2.], [4.]]))",
        "attention_for_one(tensor([100., 0.]), tensor([[1., 0.], [0., 1.]]), tensor([[2.], [4.]]))",
        "attention_for_one(tensor([0., 100.]), tensor([[1., 0.], [0., 1.]]), tensor([[2., 1.], [4., 0.]]))",
        "attention_for_one(tensor([1., 0.]), tensor([[3., 1.], [3., 9.]]), tensor([[2.], [4.]]))",
        "attention_for_one(tensor([1000., 0.]), tensor([[1., 0.], [-1., 0.]]), tensor([[2.], [4.]]))",
        "attention_for_one(tensor([1., 0.]), tensor([[5., 5.]]), tensor([[3., 4.]]))",
    ),
)
def attention_for_one(rng):
    """One query against S keys. D, S and Dv all differ, and once all are equal to unmask accidents."""
    yield call("five keys", rng.normal(3), rng.normal(5, 3), rng.normal(5, 2), public=True)
    yield call("a longer query", rng.normal(11), rng.normal(3, 11), rng.normal(3, 7))
    yield call("a single key", rng.normal(7), rng.normal(1, 7), rng.normal(1, 3))
    yield call("as many keys as the query is wide", rng.normal(5), rng.normal(5, 5), rng.normal(5, 5))
    query = 100 * rng.normal(11)
    yield call("scores of ten thousands", query, torch.stack([-query, query, 0 * query]), rng.normal(3, 2), grad=False)
    f32 = [rng.normal(*shape, dtype=torch.float32) for shape in ((7,), (3, 7), (3, 5))]
    yield call("float32", *f32, public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(rng.normal(*s)) for s in ((3,), (5, 3), (5, 2))), public=True
    )


def _weights(query, keys):
    return torch.softmax(keys @ query / len(query) ** 0.5, 0)


def _mix(query, keys, values, scale):
    return torch.softmax(keys @ query * scale, 0) @ values


attention_for_one.mistakes(
    "Draw queries and keys of unit variance with D = 400. How large do scores get, and what does softmax make of them?",
    score_not_scaled=lambda query, keys, values: _mix(query, keys, values, 1),
)
attention_for_one.mistakes(
    "A sum of D products of unit variance has variance D. What is its standard deviation?",
    score_divided_by_D=lambda query, keys, values: _mix(query, keys, values, 1 / len(query)),
)


@attention_for_one.misconception(
    "Multiply the query by a thousand. Do NaNs appear? Which of your functions is safe for large scores?"
)
def exponentials_overflow_for_one(query, keys, values):
    exponentials = (keys @ query / len(query) ** 0.5).exp()
    return exponentials / exponentials.sum() @ values


attention_for_one.mistakes(
    "Write the shapes of both factors under each product, in your order. The sizes that meet have to be equal.",
    query_before_the_keys=lambda query, keys, values: torch.softmax(query @ keys / len(query) ** 0.5, 0) @ values,
    weights_beside_the_width=lambda query, keys, values: (_weights(query, keys) * values).sum(0),
)
attention_for_one.mistakes(
    "Print the shape of your scores. Which axis counts the keys, and over which one does your softmax run?",
    softmax_over_a_second_axis=lambda query, keys, values: torch.softmax(keys @ query, 1),
)
attention_for_one.mistakes(
    "The output has the width of the values. Which axis should disappear when you mix them?",
    summed_over_the_width=lambda query, keys, values: (_weights(query, keys)[:, None] * values).sum(1),
)
attention_for_one.mistakes(
    "The text's vectors have four numbers. What do you divide by when they have three, or eleven?",
    divided_by_two=lambda query, keys, values: _mix(query, keys, values, 0.5),
)
attention_for_one.mistakes(
    "These are the weights. Which of the four steps comes after them?",
    weights_for_output=lambda query, keys, values: _weights(query, keys),
)
