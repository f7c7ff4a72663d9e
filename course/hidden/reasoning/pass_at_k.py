"""Hidden tests of `pass_at_k`: tries are not put back, thousands of them are no trouble, and nonsense is refused."""

from __future__ import annotations

import math

from course.exercise import call, exercise
from course.reference import reasoning as reference

SOME = "some of many"


@exercise(
    reference.pass_at_k,
    hints=(
        "Of four tries one is right. List the six pairs of tries. How many of them hold the right one?",
        "How many ways are there to choose k tries, and how many to choose them among the wrong ones only?",
        "Begin with the chance that all k tries are wrong. `math.comb` counts the ways.",
    ),
    calls=(
        "pass_at_k(4, 1, 2)",
        "pass_at_k(4, 1, 4)",
        "pass_at_k(4, 0, 2)",
        "pass_at_k(4, 4, 1)",
        "pass_at_k(4, 1, 5)",
        "pass_at_k(5, 2, 1)",
    ),
)
def pass_at_k(rng):
    """Small numbers, all k of n, none right, thousands, and numbers that make no sense."""
    n = 20 + int(rng.integers(0, 9))
    yield call(SOME, n, 3, 5, public=True, weight=2.0)
    yield call("one right in four, two tries", 4, 1, 2, public=True)
    yield call("one try", n, 7, 1)
    yield call("all tries", n, 1, n).counts_with(SOME)
    yield call("more tries than wrong ones", n, n - 2, 4).counts_with(SOME)
    yield call("none right", n, 0, 5, public=True).counts_with(SOME)
    yield call("all right", n, n, 3, weight=0.5).counts_with(SOME)
    yield call("ten thousand tries", 10_000, 37 + int(rng.integers(0, 50)), 64, weight=2.0)
    yield call("ten thousand, half of them drawn", 10_000, 2, 5_000)
    for title, *numbers in (
        ("more right than tries", 4, 5, 2),
        ("fewer than none right", 4, -1, 2),
        ("no try", 4, 2, 0),
        ("more drawn than there are", 4, 1, 5),
    ):
        public = title.startswith("more drawn")
        yield call(title, *numbers, raises="ValueError", weight=0.5, public=public).counts_with(SOME)


def _checked(formula):
    def answer(n, c, k):
        if not 0 <= c <= n or not 1 <= k <= n:
            raise ValueError("no such numbers")
        return float(formula(n, c, k))

    return answer


pass_at_k.mistakes(
    "One try of four is right. How likely is it among all four? What does your formula say?",
    put_back=_checked(lambda n, c, k: 1 - (1 - c / n) ** k),
)
pass_at_k.mistakes(
    "Compute it for k = 1. It should be c / n. Is your result the chance that a try is right, or that none is?",
    all_wrong=_checked(lambda n, c, k: math.comb(n - c, k) / math.comb(n, k)),
)
pass_at_k.mistakes(
    "Does your result change with k? Ask for one try and for all.",
    share_right=_checked(lambda n, c, k: c / n),
)
pass_at_k.mistakes(
    "Of four tries two are right, and you draw three. Can all three be right, and is one of them enough?",
    all_k_right=_checked(lambda n, c, k: math.comb(c, k) / math.comb(n, k)),
)
pass_at_k.mistakes(
    "Multiply the chance of one try by k, for many tries. Can a chance be above 1?",
    k_times_as_likely=_checked(lambda n, c, k: min(1.0, k * c / n)),
)
pass_at_k.mistakes(
    "None of four tries is right, and you draw five. What should come back?",
    guard_of_the_paper=lambda n, c, k: 1.0 if n - c < k else reference.pass_at_k(n, c, k),
)
