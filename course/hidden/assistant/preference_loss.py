"""Hidden tests of `preference_loss`: the probability that the better one wins, in logarithms, finite and averaged."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import assistant as reference

SMALL = "seven pairs"


@exercise(
    reference.preference_loss,
    hints=(
        "Both answers have the reward 1. How likely is each to win, and what is the loss?",
        "The chosen answer has a reward of 3, the rejected one of 1. It wins with probability 0.881. And the loss?",
        "Begin with the difference of the rewards. Let the chosen answer be 10,000 behind. What is the sigmoid of "
        "that, and its logarithm? Look for a function that computes both at once.",
    ),
    calls=(
        "preference_loss(tensor([1.]), tensor([1.]))",
        "preference_loss(tensor([100.]), tensor([0.]))",
        "preference_loss(tensor([0.]), tensor([100.]))",
        "preference_loss(tensor([0., 100.]), tensor([100., 0.]))",
        "preference_loss(tensor([5., 7.]), tensor([5., 7.]))",
        "preference_loss(tensor([1000.]), tensor([900.]))",
    ),
)
def preference_loss(rng):
    """Pairs of differences of either sign; differences of 10,000, where a plain logarithm is infinite."""

    def asked(B, dtype=torch.float64, scale=2.0):
        return scale * rng.normal(B, dtype=dtype), scale * rng.normal(B, dtype=dtype)

    yield call(SMALL, *asked(7), public=True, weight=2.0)
    yield call("a single pair", *asked(1))
    yield call("many pairs", *asked(101))
    yield call("rewards far from zero", *(100 + rewards for rewards in asked(5)))
    chosen, rejected = asked(5, scale=1e4)
    chosen[2] = rejected[2] - 1e4  # one pair at least is the wrong way round, whatever is drawn
    yield call("pairs that are far apart", chosen, rejected, public=True)
    yield call("float32", *asked(11, torch.float32), public=True)
    yield call("float32, far apart", *asked(13, torch.float32, 300.0))
    yield call("memory that is not contiguous", *map(noncontiguous, asked(5)), public=True)


preference_loss.mistakes(
    "Try a difference of -10,000. Which number becomes zero or infinite on the way to your loss?",
    log_of_sigmoid=lambda chosen, rejected: -(chosen - rejected).sigmoid().log().mean(),
)
preference_loss.mistakes(
    "Which answer did people like better? Raise its reward in your head. Should the loss fall or rise?",
    exchanged=lambda chosen, rejected: reference.preference_loss(rejected, chosen),
)
preference_loss.mistakes(
    "Take the same pair twice. A mean should stay as it is.",
    sum_for_mean=lambda chosen, rejected: reference.preference_loss(chosen, rejected) * len(chosen),
)
preference_loss.mistakes(
    "At equal rewards the loss is log 2 = 0.693. Yours? A loss is minus the logarithm of a probability.",
    probability_for_its_logarithm=lambda chosen, rejected: -(chosen - rejected).sigmoid().mean(),
)
preference_loss.mistakes(
    "Two answers compete in every pair. Change the rewards of one pair. Should the probabilities of another one move?",
    softmax_over_the_batch=lambda chosen, rejected: -(chosen - rejected).log_softmax(0).mean(),
)
preference_loss.mistakes(
    "At a difference of 2 the loss is 0.127, and it never is zero. Yours?",
    hinge=lambda chosen, rejected: (1 - (chosen - rejected)).relu().mean(),
)
