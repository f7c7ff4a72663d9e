"""The final grade: what must hold whatever a class did, and that arithmetic is exact where floats are not."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.grading.gradebook.final_grade import (
    Part,
    as_fraction,
    final_grade,
    half_up,
    points_after_penalty,
    points_asked,
)
from course.grading.gradebook.scores import Scores
from course.outline import Final

shares = st.fractions(0, 1, max_denominator=30)
weights = st.fractions(0, 50, max_denominator=4)
counting = st.builds(Part, st.just(""), weights, st.sampled_from(["counts", "missing", "excused", "open"]), shares)
terms = st.lists(counting, min_size=1, max_size=6).map(
    lambda parts: [
        replace(part, name=f"{place}", share=part.share if part.state == "counts" else Fraction())
        for place, part in enumerate(parts)
    ]
)
kept = st.frozensets(st.sampled_from("012345"))


def grade(rule: Final, parts: list[Part]) -> Decimal | None:
    return final_grade(rule, "ada", parts).grade


@given(terms, kept, st.integers(0, 4))
def test_dropping_one_more_never_lowers_a_grade(parts: list[Part], kept: frozenset[str], drop: int) -> None:
    less, more = (grade(Final(drop_lowest=many, never_dropped=kept, decimals=3), parts) for many in (drop, drop + 1))
    assert less is None or (more is not None and less <= more)


@given(terms, shares, weights, st.integers(0, 2))
def test_extra_credit_never_lowers_a_grade(parts: list[Part], share: Fraction, weight: Fraction, drop: int) -> None:
    rule = Final(drop_lowest=drop, extra_credit=frozenset({"more"}), cap=1000)
    with_it = grade(rule, [*parts, Part("more", weight, "extra", share)])
    without = grade(rule, [*parts, Part("more", weight, "open")])
    assert without is None or (with_it is not None and without <= with_it)


@given(terms, shares, st.integers(1, 130), st.integers(0, 3))
def test_the_cap_holds_after_rounding(parts: list[Part], share: Fraction, cap: int, decimals: int) -> None:
    rule = Final(cap=cap, decimals=decimals, extra_credit=frozenset({"more"}))
    given_ = grade(rule, [*parts, Part("more", Fraction(40), "extra", share)])
    assert given_ is None or 0 <= given_ <= cap


@given(terms, shares)
def test_weights_of_what_counts_sum_to_the_whole(parts: list[Part], share: Fraction) -> None:
    """A student with one share everywhere gets that share, whatever is excused, open or dropped."""
    same = [replace(part, share=share, state="counts" if part.state == "missing" else part.state) for part in parts]
    whole = final_grade(Final(drop_lowest=1), "ada", same)
    assert whole.mean is None or whole.mean == share
    assert (whole.mean is None) == (not any(part.weight for part in same if part.state == "counts"))


def test_the_lowest_that_may_go_is_dropped() -> None:
    parts = [
        Part("homework", Fraction(1), "counts", Fraction(1, 2)),
        Part("lab", Fraction(3), "counts", Fraction(1, 2)),
        Part("project", Fraction(2), "counts", Fraction(1, 5)),
        Part("poster", Fraction(0), "counts", Fraction(0)),
    ]
    found = final_grade(Final(drop_lowest=1, never_dropped=frozenset({"project"})), "ada", parts)
    assert [part.state for part in found.parts] == ["counts", "counts", "counts", "counts"], "it would lower the mean"
    found = final_grade(Final(drop_lowest=1), "ada", parts)
    assert [part.name for part in found.parts if part.state == "dropped"] == ["project"]
    found = final_grade(Final(drop_lowest=3), "ada", parts)
    assert [part.name for part in found.parts if part.state == "dropped"] == ["lab", "project"], "the last one stays"


@pytest.mark.parametrize(
    ("number", "decimals", "rounded"),
    [("89.5", 0, "90"), ("88.5", 0, "89"), ("89.49", 0, "89"), ("66.665", 2, "66.67"), ("7", 1, "7.0"), ("0", 3, "0")],
)
def test_a_half_is_rounded_up(number: str, decimals: int, rounded: str) -> None:
    assert half_up(Fraction(number), decimals) == Decimal(rounded)
    assert -half_up(Fraction(number), decimals).as_tuple().exponent == decimals


def test_a_sum_that_is_a_half_is_one_though_floats_miss_it() -> None:
    """Ten topics of 0.1, 0.7 and the like: added as floats, they stop short of 89.5."""
    tenths = [0.7 + 0.1 + 0.1] * 5 + [0.89] * 5
    assert 100 * sum(tenths) / 10 < 89.5
    parts = [Part(f"{place}", Fraction(1), "counts", as_fraction(share)) for place, share in enumerate(tenths)]
    assert grade(Final(decimals=0), parts) == Decimal(90)


@given(st.lists(st.tuples(st.integers(0, 29), st.integers(1, 29)), min_size=1, max_size=8), st.integers(0, 100))
def test_points_are_exact_after_thirds_sevenths_and_a_penalty(cells: list[tuple[int, int]], percent: int) -> None:
    maxima = {f"{place}": 4.0 for place in range(len(cells))}
    shares = [Fraction(min(part, whole), whole) for part, whole in cells]
    cell_scores: dict[str, float | None] = {
        f"{place}": 4.0 * share.numerator / share.denominator for place, share in enumerate(shares)
    }
    total = sum(score or 0.0 for score in cell_scores.values())
    scores = Scores(total, 4.0 * len(cells), cell_scores, maxima, total * percent / 100)
    assert points_after_penalty(scores) == 4 * sum(shares) * (100 - percent) / 100
    assert points_asked(scores, {"0"}) == 4 * (len(cells) - 1)
