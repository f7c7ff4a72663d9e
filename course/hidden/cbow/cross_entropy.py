"""Hidden tests of `cross_entropy`: the mean loss of a batch, finite for any scores."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import cbow as reference

BUILT_IN_LOSS = ("F.cross_entropy", "nn.CrossEntropyLoss")


@exercise(
    reference.cross_entropy,
    hints=(
        "What does the loss cost where all logits are equal? Write down the probability of the target first.",
        "Take the logits [0, 10000] and the target 0. Print the probability of the target, and its logarithm. "
        "Which of the two can the computer not hold?",
        "Write the logarithm of the fraction as a difference of two terms. Which of them overflows, and what could "
        "you take out of the sum before?",
        "Begin with one row and the logits 2, 1 and 0 of the text. Compute the two terms of the difference, and "
        "check that you get 0.41 for the first word. Then do the same for a batch, and print the shape after each "
        "step.",
    ),
    forbidden=BUILT_IN_LOSS,
    calls=(
        "cross_entropy(tensor([[0., 0., 0., 0.]]), tensor([2]))",
        "cross_entropy(tensor([[1000., 0.]]), tensor([0]))",
        "cross_entropy(tensor([[1000., 0.]]), tensor([1]))",
        "cross_entropy(tensor([[0., 0.], [100., 0.]]), tensor([1, 1]))",
        "cross_entropy(tensor([[5., 5.], [5., 5.]]), tensor([0, 1]))",
        "cross_entropy(tensor([[100., 0.], [100., 0.]]), tensor([0, 1]))",
    ),
)
def cross_entropy(rng):
    """Values and gradients, with B and V different and once equal. Huge logits, where only a stable form survives.

    Where the targets have the largest logits, an overflow is told apart from a small probability that was lost.
    """
    yield call("a small batch", 2 * rng.normal(3, 5), torch.tensor([4, 0, 2]), public=True)
    huge = torch.tensor([[1e4, -1e4, 0.0], [0.0, 5e3, -1e4]], dtype=torch.float64)
    yield call("scores of ±10,000", huge, torch.tensor([0, 0]), public=True, grad=False)
    yield call("±10,000, and the best are right", huge, torch.tensor([0, 1]), public=True, grad=False)
    yield call("as many rows as words", 2 * rng.normal(5, 5), rng.permutation(5), weight=2.0)
    every = torch.cat([rng.permutation(7), rng.integers(0, 7, 6)])
    yield call("a larger batch", 3 * rng.normal(13, 7), every, weight=2.0)
    yield call("a batch of one", rng.normal(1, 11), torch.tensor([7]))
    yield call("two words", rng.normal(7, 2), rng.integers(0, 2, 7))
    yield call("scores far from zero", 500.0 + rng.normal(3, 5), rng.integers(0, 5, 3))
    sure = torch.full((2, 3), -1e4, dtype=torch.float64)
    sure[:, 1] = 1e4
    yield call("sure and right, sure and wrong", sure, torch.tensor([1, 2]), grad=False)
    yield call("float32", rng.normal(5, 3, dtype=torch.float32), rng.integers(0, 3, 5), public=True)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(3, 5)), rng.integers(0, 5, 3), public=True)


def _chosen(values, targets):
    return values[torch.arange(len(targets)), targets]


@cross_entropy.misconception("Give your loss the logits [10, 0]. How often does a softmax act on them?")
def softmax_twice(logits, targets):
    return reference.cross_entropy(torch.softmax(logits, 1), targets)


@cross_entropy.misconception(
    "Print the exponentials and their sum, row by row, for logits of ±10,000. What is one divided by the other?"
)
def overflows(logits, targets):
    return -(_chosen(logits.exp(), targets) / logits.exp().sum(1)).log().mean()


@cross_entropy.misconception(
    "Print the probability of a target whose logit lies 10,000 below the largest, then its logarithm. Where "
    "was it lost?"
)
def logarithm_of_zero(logits, targets):
    return -_chosen(torch.softmax(logits, 1), targets).log().mean()


@cross_entropy.misconception(
    "Your loss is infinite even where the right word has by far the largest logit. Print exp(10000). Which "
    "term holds it?"
)
def exponentials_overflow_in_the_sum(logits, targets):
    return (logits.exp().sum(1).log() - _chosen(logits, targets)).mean()


@cross_entropy.misconception(
    "With the logits [0, 10000], target 0 should cost 10,000. What is the largest loss that your function can "
    "return, and why?"
)
def probabilities_plus_1e_8(logits, targets):
    return -(_chosen(torch.softmax(logits, 1), targets) + 1e-8).log().mean()


cross_entropy.mistakes(
    "Your loss can fall below zero. Is each number that you average the negative logarithm of a probability?",
    no_logarithm=lambda logits, targets: -_chosen(torch.softmax(logits, 1), targets).mean(),
)


@cross_entropy.misconception(
    "Print the shape of what you take the mean of. How many targets does a row have, and how many do you look up?"
)
def every_target_of_every_row(logits, targets):
    return -torch.log_softmax(logits, 1)[:, targets].mean()


@cross_entropy.misconception(
    "Sum your probabilities over each row, then over each column. Which sums should be one? Try a batch of one."
)
def softmax_over_the_batch(logits, targets):
    return -_chosen(torch.log_softmax(logits, 0), targets).mean()
