"""Hidden tests of `wilson_interval`: the shares that fit a count, also for a count of none or of all."""

from __future__ import annotations

import math

from course.exercise import call, exercise
from course.reference import inside as reference

SEVEN = "7 of 10"


@exercise(
    reference.wilson_interval,
    hints=(
        "Ten of ten answers are right. Can you be sure that a model is always right? What does your interval say?",
        "Put 0 of 10 and 10 of 10 in. Do the two intervals mirror each other? Does either leave the range from 0 to 1?",
        "Begin with p, z² / n and the centre, and print the centre for 7 of 10. On which side of p does it lie, and "
        "why?",
    ),
    calls=(
        "wilson_interval(0, 4, z=0.)",
        "wilson_interval(1, 2, z=0.)",
        "wilson_interval(3, 3, z=0.)",
        "wilson_interval(1, 0)",
        "wilson_interval(3, 2)",
        "wilson_interval(-1, 2)",
    ),
)
def wilson_interval(rng):
    """Few and many answers, none and all right, several z; counts that cannot be."""

    def asked(title, right, n, *z, **options):
        return call(title, right, n, *z, **options)

    yield asked(SEVEN, 7, 10, public=True)
    n = int(rng.integers(20, 90, 1))
    yield asked("some tens", int(rng.integers(3, n - 3, 1)), n, weight=2.0)
    n = int(rng.integers(300, 2000, 1))
    yield asked("hundreds", int(rng.integers(40, n - 40, 1)), n, weight=2.0)
    n = int(rng.integers(5, 40, 1))
    yield asked("all right", n, n, public=True)
    yield asked("none right", 0, n + 3)
    z = 1 + float(rng.uniform(1))
    yield asked("another z", int(rng.integers(3, 20, 1)), 23, z, weight=2.0)
    yield asked("a single answer", 1, 1).counts_with(SEVEN)
    for title, right, n in (("no answers", 0, 0), ("more right than asked", 8, 7), ("fewer right than none", -1, 5)):
        wrong = asked(title, right, n, raises="ValueError", weight=0.5, public=title == "no answers")
        yield wrong.counts_with(SEVEN)


def _checked(right, n):
    if n < 1 or not 0 <= right <= n:
        raise ValueError("these answers cannot be right")


def _around(centre, half):
    """The answer with this centre and half width, of p, n and z."""

    def interval(right, n, z=1.96):
        _checked(right, n)
        p = right / n
        return centre(p, n, z) - half(p, n, z), centre(p, n, z) + half(p, n, z)

    return interval


def _wilson_half(p, n, z):
    return z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))


def _wald(right, n, z=1.96):
    _checked(right, n)
    p, half = right / n, z * math.sqrt(right / n * (1 - right / n) / n)
    return p - half, p + half


def _plus_four(right, n, z=1.96):
    _checked(right, n)
    p = (right + z * z / 2) / (n + z * z)
    half = z * math.sqrt(p * (1 - p) / (n + z * z))
    return p - half, p + half


wilson_interval.mistakes(
    "Put 10 of 10 in. Is your interval a single point? A share of 0.9 would give ten of ten in one case of three.",
    wald=_wald,
)
wilson_interval.misconception(
    "Put 10 of 10 in. Does your interval go beyond 1? Add pseudo-counts only where the formula has them.",
    convention="the interval of Agresti and Coull",
    name="plus_four",
)(_plus_four)
wilson_interval.mistakes(
    "Put 10 of 10 in. Does your interval reach beyond 1? Look at its centre: is it p?",
    centre_left_at_p=_around(lambda p, n, z: p, _wilson_half),
)
wilson_interval.mistakes(
    "Compare 7 of 10 with 700 of 1,000. By which factor should the interval shrink, and by which does yours?",
    n_divided_twice=_around(
        lambda p, n, z: (p + z * z / (2 * n)) / (1 + z * z / n),
        lambda p, n, z: z / (1 + z * z / n) * math.sqrt((p * (1 - p) + z * z / (4 * n)) / n) / math.sqrt(n),
    ),
)


@wilson_interval.misconception("Print your p for 7 of 10. Which division leaves the remainder out?")
def whole_division(right, n, z=1.96):
    _checked(right, n)
    return reference.wilson_interval(right // n * n, n, z)
