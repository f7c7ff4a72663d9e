"""Hidden tests of `discretise`: zero-order hold, for the decay and for what is written."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.discretise,
    hints=(
        "Take a = -1, b = 1 and delta = ln 2, and compute both results by hand. Each of them is one half.",
        "Take two steps of half the length with the same input. They should be one whole step.",
        "Begin with what is left of a state after delta, without any input. Then hold the input at 1 for ever. Where "
        "does h' = a h + b come to rest, and where does your recurrence?",
    ),
    calls=(
        "discretise(tensor([-1.]), tensor([1.]), 0.)",
        "discretise(tensor([-1.]), tensor([3.]), 100.)",
        "discretise(tensor([-2.]), tensor([6.]), 100.)",
        "discretise(tensor([-1., -2.]), tensor([0., 0.]), 100.)",
        "discretise(tensor([-0.5]), tensor([1.]), 1000.)",
        "discretise(tensor([-1.]), tensor([1.]), 0.693147)",
    ),
)
def discretise(rng):
    """Decays between a hundredth and three a step, where every way of writing it is exact enough."""

    def inputs(N, dtype=torch.float64):
        return -rng.uniform(N, low=0.3, high=2.0, dtype=dtype), rng.normal(N, dtype=dtype)

    yield call("five states", *inputs(5), 0.7, public=True, weight=2.0)
    yield call("a long step", *inputs(7), 1.5)
    yield call("a short step", *inputs(3), 0.05, weight=2.0)
    yield call("one state", *inputs(1), 0.4)
    yield call("float32", *inputs(7, dtype=torch.float32), 0.8, public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(5)), 0.3, public=True)


def _kept(a, delta):
    return torch.exp(delta * a)


@discretise.misconception(
    "Take a = -1 and delta = 3. Is your decay between 0 and 1? Then compare one step with two half steps."
)
def euler_for_both(a, b, delta):
    return 1 + delta * a, delta * b


@discretise.misconception(
    "Take a = -1, b = 1 and delta = ln 2. Is your b_bar 0.5 or 0.693? Within a step, what was written already fades."
)
def euler_for_b(a, b, delta):
    return torch.exp(delta * a), delta * b


discretise.mistakes(
    "Take a = -1 and b = 1. A positive input should raise the state. Does it raise yours?",
    sign_of_b=lambda a, b, delta: (_kept(a, delta), (1 - _kept(a, delta)) / a * b),
)
discretise.mistakes(
    "Hold the input at 1. The state comes to rest at b_bar / (1 - a_bar). That should be -b / a. Is it, for a = -3?",
    not_divided_by_a=lambda a, b, delta: (_kept(a, delta), (1 - _kept(a, delta)) * b),
    divided_by_the_step_too=lambda a, b, delta: (_kept(a, delta), (_kept(a, delta) - 1) / (delta * a) * b),
    times_the_step_too=lambda a, b, delta: (_kept(a, delta), (_kept(a, delta) - 1) / a * b * delta),
)
discretise.mistakes(
    "Double b. Which of the two results should double?",
    b_left_out=lambda a, b, delta: (_kept(a, delta), (_kept(a, delta) - 1) / a + 0 * b),
)


@discretise.misconception(
    "Take a = -1 and delta = 3. Does one step agree with two half steps?", convention="the bilinear rule, as in S4"
)
def bilinear(a, b, delta):
    return (1 + delta * a / 2) / (1 - delta * a / 2), delta * b / (1 - delta * a / 2)
