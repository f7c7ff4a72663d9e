"""Hidden tests of `fit_ar`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import hidden_states as reference


def _solved(before, after):
    return torch.linalg.lstsq(before, after[:, None]).solution[:, 0]


def _before(x, order):
    """Row t holds the values at t - 1, t - 2, ..., for t = order ... T - 1."""
    return torch.stack([x[order - k : len(x) - k] for k in range(1, order + 1)], 1)


@exercise(
    reference.fit_ar,
    hints=(
        "For order 2 and five values, write the first row of the equations. Which value is predicted, and from which?",
        "How many rows have `order` values before them, in a series of T?",
        "Begin with the two sides of the equations as tensors, and print them for the series 0, 1, 1, 0, -1. `unfold` "
        "makes windows of a tensor. In which order must the columns stand?",
    ),
    calls=(
        "fit_ar(tensor([1., 2., 4., 8.]), 1)",
        "fit_ar(tensor([8., 4., 2., 1.]), 1)",
        "fit_ar(tensor([1., 1., 2., 3., 5., 8.]), 2)",
        "fit_ar(tensor([3., 3., 3., 3.]), 1)",
        "fit_ar(tensor([1., -1., 1., -1.]), 1)",
        "fit_ar(tensor([1., 2., 1., 2., 1., 2.]), 2)",
    ),
)
def fit_ar(rng):
    """Series of noise that remember a little, far from zero and near it; orders from one up."""

    def series(T, *weights, mean=0.0, dtype=torch.float64):
        values = (rng.normal(T)).tolist()
        for t in range(T):
            values[t] += sum(w * values[t - k] for k, w in enumerate(weights, 1) if t >= k)
        return mean + torch.tensor(values, dtype=dtype)

    def asked(title, *given, **settings):
        return call(title, *given, grad=False, **settings)

    yield asked("three values before", series(53, 0.6, -0.3, 0.2), 3, public=True)
    yield asked("one value before", series(31, 0.8), 1)
    yield asked("a series far from zero", series(61, 0.4, 0.3, mean=7.0), 2, public=True, weight=2.0)
    yield asked("as short as it may be", series(14, 0.5, -0.2), 7)
    yield asked("a long series", series(499, 0.5, 0.2, -0.4, 0.1), 5)
    angle = 0.3 + 0.2 * rng.uniform(1)
    tone = (angle * torch.arange(101, dtype=torch.float64)).sin()
    yield asked("a pure tone", tone, 2, public=True)
    yield asked("float32", series(43, 0.7, -0.2, dtype=torch.float32), 2, public=True)
    yield asked("memory that is not contiguous", noncontiguous(series(37, 0.6, -0.3)), 3, public=True)


fit_ar.mistakes(
    "In a series that halves at each step, which of your weights is 0.5? The newest value comes first.",
    oldest_first=lambda x, order: _solved(_before(x, order), x[order:]).flip(0),
)


@fit_ar.misconception("Fit 7, 7, 7, 7 with order 1. How much of the next value does your weight explain?")
def constant_beside_the_weights(x, order):
    rows = torch.cat([_before(x, order), torch.ones_like(x[order:, None])], 1)
    return _solved(rows, x[order:])[:order]


fit_ar.mistakes(
    "Fit 7, 7, 7, 7 with order 1. Which weight predicts the next 7 from the last one?",
    mean_taken_off=lambda x, order: _solved(_before(x - x.mean(), order), (x - x.mean())[order:]),
)
fit_ar.mistakes(
    "Print the first row of your equations. Which of its values has anybody measured?",
    zeros_before_the_beginning=lambda x, order: _solved(_before(F.pad(x, (order, 0)), order), x),
)


@fit_ar.misconception(
    "Take a pure tone and order 2. Is the error of your prediction zero? Yours sums over the ends, too.",
    convention="the autocorrelation method (Yule–Walker equations)",
)
def autocorrelation(x, order):
    r = torch.stack([(x[: len(x) - k] * x[k:]).sum() for k in range(order + 1)])
    distance = (torch.arange(order) - torch.arange(order)[:, None]).abs()
    return torch.linalg.solve(r[distance], r[1:])


@fit_ar.misconception("Your error is zero for any series. Do you predict a value from itself?")
def knows_the_answer(x, order):
    return F.one_hot(torch.tensor(0), order).to(x)


fit_ar.mistakes(
    "For order 2, which value stands directly before the one that you predict? Is it in the row?",
    one_step_too_far=lambda x, order: _solved(_before(x, order)[:-1], x[order + 1 :]),
)
