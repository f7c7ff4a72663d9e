"""Compute the points that the selected criteria of a rubric give."""

from __future__ import annotations

from collections.abc import Iterable

from course.outline import Criterion, Rubric


def starts_full(rubric: Rubric) -> bool:
    """Return whether the rubric deducts from full points, because none of its criteria adds points."""
    return all(criterion.points <= 0 for criterion in rubric)


def points_of(rubric: Rubric, taken: Iterable[Criterion], maximum: float) -> float:
    """Return the points of an answer that meets the criteria `taken`: at least 0, and at most `maximum`."""
    start = maximum if starts_full(rubric) else 0.0
    return min(max(start + sum(criterion.points for criterion in taken), 0.0), maximum)


def fault_of(rubric: Rubric, maximum: float) -> str:
    """Return why a rubric does not fit a question of `maximum` points, in one sentence, or "" if it fits."""
    large = next((criterion for criterion in rubric if abs(criterion.points) > maximum), None)
    if large is None:
        return ""
    return f"{large.wording!r} has {large.points:g} points, but the question has {maximum:g}. Run `course release`."
