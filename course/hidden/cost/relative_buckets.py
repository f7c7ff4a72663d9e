"""Hidden tests of `relative_buckets`: both halves, the exact buckets, the logarithm and its end."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import cost as reference

BOTH = "both sides, T5's own sizes"
EVERY = torch.tensor([distance for distance in range(-600, 601) if abs(distance) not in (16, 32, 64)])
"""Distances without those where the logarithms' ratio is a whole number, which a rounding error moves across."""


@exercise(
    reference.relative_buckets,
    hints=(
        "Read the worked example. Which bucket has a key 7 before the query, and which one 7 behind it?",
        "How many buckets are left for looking back, if keys behind the query have half of them? And if no key behind "
        "the query is ever seen?",
        "At which distance does the last bucket begin? From there on all keys share it.",
        "Begin with distances of one direction and the exact buckets alone. Then put distance / exact into the "
        "logarithm. What is it for a distance of `exact`, and what for `max_distance`?",
    ),
    calls=(
        "relative_buckets(tensor([-2, -1, 0, 1, 2]))",
        "relative_buckets(tensor([-2, -1, 0, 1, 2]), bidirectional=False)",
        "relative_buckets(tensor([-500, 500]))",
        "relative_buckets(tensor([-500, 500]), 8, 20, False)",
        "relative_buckets(tensor([[-7], [7]]), 32, 128)",
        "relative_buckets(tensor([-15, -16]), bidirectional=False)",
    ),
)
def relative_buckets(rng):
    """Distances up to 600 of both signs, in several sizes, in order and out of it."""
    yield call(BOTH, torch.arange(-9, 10), public=True, weight=2.0)
    yield call("both sides, far away", EVERY, weight=2.0)
    yield call("looking back only", torch.arange(-40, 41), bidirectional=False, public=True, weight=2.0)
    yield call("looking back only, far away", EVERY, 32, 128, False, weight=2.0)
    yield call("a table of keys and queries", torch.arange(13) - torch.arange(11)[:, None], public=True)
    yield call("sixteen buckets up to 60", EVERY, 16, 60, weight=2.0)
    yield call("twelve buckets up to 50, looking back", EVERY, 12, 50, bidirectional=False)
    yield call("sixty-four buckets", EVERY, 64, rng.choice([300, 500]), rng.choice([True, False]))
    yield call("any order", EVERY[rng.integers(0, len(EVERY), 5, 7)], public=True)


def _bucketed(distance, n_buckets=32, max_distance=128, bidirectional=True, *, halved=True, up=False, capped=True):
    """T5's rule with these changes."""
    first = torch.zeros_like(distance)
    far = (-distance).clamp(min=0)
    if bidirectional:
        n_buckets //= 2
        first, far = (distance > 0).long() * n_buckets, distance.abs()
    elif halved is None:
        n_buckets //= 2
    exact = n_buckets // 2
    share = (far.clamp(min=1) / exact).log() / torch.tensor(max_distance / exact).log()
    share = share * (n_buckets - exact)
    coarse = exact + (share.ceil() if up else share).long()
    return first + torch.where(far < exact, far, coarse.clamp(max=n_buckets - 1) if capped else coarse)


relative_buckets.mistakes(
    "Distance is key minus query. On which side of the query is a key at distance -7? Compare the worked example.",
    query_minus_key=lambda distance, *args, **kwargs: reference.relative_buckets(-distance, *args, **kwargs),
)
relative_buckets.mistakes(
    "Print the largest bucket that you ever give out when only keys before the query count. Are there 32?",
    half_of_the_buckets_looking_back=lambda *args, **kwargs: _bucketed(*args, halved=None, **kwargs),
)


@relative_buckets.misconception("With bidirectional=False no query ever sees a key behind it. Which bucket have these?")
def keys_behind_by_their_size(distance, n_buckets=32, max_distance=128, bidirectional=True):
    before = distance if bidirectional else -distance.abs()
    return reference.relative_buckets(before, n_buckets, max_distance, bidirectional)


relative_buckets.mistakes(
    "Take a key 500 before the query. How many buckets are there, and which is the last one of its side?",
    no_last_bucket=lambda *args, **kwargs: _bucketed(*args, capped=False, **kwargs),
)


@relative_buckets.misconception(
    "Both sides together have n_buckets. How many has each, and how many of these are exact?"
)
def all_buckets_on_each_side(distance, n_buckets=32, max_distance=128, bidirectional=True):
    return reference.relative_buckets(
        distance, 2 * n_buckets if bidirectional else n_buckets, max_distance, bidirectional
    )
