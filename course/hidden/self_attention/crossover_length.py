"""Hidden tests of `crossover_length`."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import self_attention as reference


@exercise(
    reference.crossover_length,
    hints=(
        "Plot both costs for d = 64 over n from 1 to 200 and read off where they meet.",
        "Set the two costs equal and cancel what stands on both sides.",
    ),
)
def crossover_length(rng):
    """One number, whatever the width."""
    yield call("width 64", 64, public=True)
    yield call("width 512", 512)
    yield call("width one", 1).counts_with("width 64")
    yield call("some width", int(rng.integers(100, 1000, 1)))


crossover_length.mistakes(
    "Put your n and d into attention_cost: self-attention costs twice as much there. Where did the factor come from?",
    twice_the_width=lambda d: 2.0 * d,
)
crossover_length.mistakes(
    "Put your n and d into attention_cost: recurrence costs twice as much there. Where did the factor come from?",
    half_the_width=lambda d: d / 2,
)
