"""Hidden tests of `softmax`."""

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import self_attention as reference

BUILT_IN_SOFTMAX = (
    *("torch.softmax", "F.softmax", "nn.Softmax", "Tensor.softmax", "torch.special.softmax"),
    *("torch.log_softmax", "F.log_softmax", "nn.LogSoftmax", "Tensor.log_softmax", "torch.special.log_softmax"),
    *("F.softmin", "nn.Softmin", "nn.Softmax2d"),
)


@exercise(
    reference.softmax,
    hints=(
        "Compute the weights of [0, 0, 0] and of [1, 2, 3] by hand. Which of your numbers must be positive, and what "
        "must sum to one?",
        "Print exp(1000). Then compare the weights for x and for x + 1000. Should they differ?",
        "Which number could you add to a whole slice so that its largest exponential is exactly 1?",
        "Begin with one row of small scores and the plain formula. Then take a table and print the shape of the sum "
        "along `dim`. It has to line up with the table. Large scores come last.",
    ),
    forbidden=BUILT_IN_SOFTMAX,
    calls=(
        "softmax(tensor([2., 2.]), 0)",
        "softmax(tensor([1000., 1000.]), 0)",
        "softmax(tensor([[0., 0.], [0., 0.]]), 0)",
        "softmax(tensor([[0., 100.], [0., 0.]]), 1)",
        "softmax(tensor([[0., 100.], [0., 0.]]), 0)",
        "softmax(tensor([0., -1000.]), 0)",
    ),
)
def softmax(rng):
    """Every axis of a box, then scores that overflow, slices far above and below each other, then -inf."""
    yield call("a table, over its columns", rng.normal(3, 5), dim=-1, public=True)
    yield call("a table, over its rows", rng.normal(3, 5), dim=0, public=True)
    huge = 1000.0 + 3.0 * rng.normal(2, 7)
    yield call("scores around a thousand", huge, dim=-1, public=True, grad=False)
    yield call("a box, over its first axis", rng.normal(3, 5, 2), dim=0)
    yield call("a box, over axis -2", 3 * rng.normal(2, 3, 5), dim=-2)
    yield call("one row", rng.normal(7), dim=0)
    yield call("a table of one row", rng.normal(1, 5), dim=1)
    yield call("a table of one column", rng.normal(3, 1), dim=1).counts_with("a table, over its columns")
    yield call("float32", rng.normal(5, 3, dtype=torch.float32), dim=1, public=True)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(3, 5)), dim=0, public=True)
    low = -1000.0 + 3.0 * rng.normal(3, 5)
    yield call("scores around minus a thousand", low, dim=1, grad=False)
    far = rng.normal(3, 5)
    far[:, 1], far[:, 3] = 1e4, -1e4
    yield call("scores of ±10,000", far, dim=-1, grad=False)
    apart = rng.normal(2, 3) + torch.tensor([[0.0], [5000.0]], dtype=torch.float64)
    yield call("one row far above the other", apart, dim=1, grad=False)
    one_left = torch.full((2, 3), -math.inf, dtype=torch.float64)
    one_left[0, 1], one_left[1, 2] = rng.normal(1).item(), rng.normal(1).item()
    yield call("rows of -inf with one finite entry", one_left, dim=-1, grad=False)


@softmax.misconception(
    "What is exp(1000) on a computer? Compare the weights of a slice before and after you add a number to all of it."
)
def overflows(x, dim):
    return x.exp() / x.exp().sum(dim, keepdim=True)


def _shares(x, dim, keepdim=True):
    """Softmax of scores that are shifted already."""
    exponentials = x.exp()
    return exponentials / exponentials.sum(dim, keepdim=keepdim)


softmax.mistakes(
    "Take the row [0, 1, 2] alone, then above the row [5000, 5001, 5002]. What do you take the exponential of?",
    one_maximum_for_all=lambda x, dim: _shares(x - x.max(), dim),
)
softmax.mistakes(
    "Print x.max(dim) for a table. How many things does it return, and which one do you need?",
    maximum_with_its_place=lambda x, dim: _shares(x - x.max(dim, keepdim=True), dim),
)
softmax.mistakes(
    "Take a table (3, 5) and dim=-1. Print the shapes of both tensors in the line that fails. How do they line up?",
    sums_lose_their_axis_and_no_shift=lambda x, dim: _shares(x, dim, keepdim=False),
)
softmax.mistakes(
    "Ask for dim=0 of a table. Along which axis do your weights sum to one?",
    always_the_last_axis=lambda x, dim: reference.softmax(x, -1),
)
softmax.mistakes(
    "Sum one slice, then sum everything. Which of the two should be one?",
    one_sum_for_everything_and_no_shift=lambda x, dim: x.exp() / x.exp().sum(),
)
softmax.mistakes(
    "Try x = [-1, 1]. Which function makes any score positive before you divide by a sum?",
    no_exponential=lambda x, dim: x / x.sum(dim, keepdim=True),
)
softmax.mistakes(
    "Print x and its exponentials for the scores 1, 2 and 3. Which of the two stand below the bar of the formula?",
    divided_by_the_sum_of_scores=lambda x, dim: x.exp() / x.sum(dim, keepdim=True),
)
