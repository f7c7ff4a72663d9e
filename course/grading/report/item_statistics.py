"""Compute each graded item's difficulty and discrimination, and advise what to do about the worst items."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from course.grading.report.term import Taught, share_of

ENOUGH = 8
"""The number of students below which these statistics mean nothing."""

EASY, HARD = 0.95, 0.3
"""The mean shares of the points above which an item is easy and below which it is hard."""

NEGATIVE, WEAK = -0.1, 0.2
"""The discrimination below which an item counts as negative, by more than chance, and below which it is weak, by the
usual rule of test theory.
"""

ADVICE: dict[tuple[str, bool], str] = {
    ("negative", False): (
        "Students who do well in the rest of the topic do worse here, so a test may reject a right answer. Read two "
        "failing answers by strong students. If a test is wrong, correct it and run `course grade --stale`."
    ),
    ("negative", True): (
        "Students who do well in the rest of the topic get fewer points here. Compare two answers by strong students "
        "with two by weak ones, and grade them by the same criteria."
    ),
    ("hard", False): (
        "Few students get its points. See in the topic's report what happened, and whether the notebook asks for it in "
        "plain words. Then spend ten minutes of the next lecture on it."
    ),
    ("hard", True): (
        "Few students get its points. Read three answers beside the model answer, and say in the next lecture what was "
        "missing."
    ),
    ("weak", False): (
        "It hardly tells strong work from weak. Its points may hang on something that the topic is not about, such as "
        "a dtype. Look at what the commonest failing check asks, and explain it in class or give the item fewer points."
    ),
    ("weak", True): (
        "It hardly tells strong work from weak. Write down what earns each point, and grade five answers again by that."
    ),
}
"""The advice on an item with negative or weak discrimination, or a hard one; the flag says that a person grades it."""


@dataclass(frozen=True)
class ItemStatistics:
    """A graded item of a topic.

    `difficulty` is the mean share of its points. `discrimination` is the correlation of these shares with those of the
    topic's other items, or None if either is constant. `by_hand` says that a person grades it, not tests.
    """

    topic: str
    name: str
    students: int
    difficulty: float
    discrimination: float | None
    by_hand: bool = False

    @property
    def advice(self) -> str:
        """Return what to do about the item, or an empty string."""
        if self.students < ENOUGH:
            return ""
        if self.discrimination is not None and self.discrimination < NEGATIVE:
            return ADVICE["negative", self.by_hand]
        if self.difficulty < HARD:
            return ADVICE["hard", self.by_hand]
        if self.difficulty <= EASY and self.discrimination is not None and self.discrimination < WEAK:
            return ADVICE["weak", self.by_hand]
        return ""

    @property
    def badness(self) -> tuple[int, float]:
        """Return a sort key, worst first: a negative discrimination, then a hard item, then a weak discrimination."""
        if self.discrimination is not None and self.discrimination < NEGATIVE:
            return 0, self.discrimination
        return (1, self.difficulty) if self.difficulty < HARD else (2, self.discrimination or 0.0)


def statistics_of(term: Sequence[Taught]) -> list[ItemStatistics]:
    """Return the statistics of every graded item, in the order of the course."""
    return [one for taught in term for name in _items(taught) if (one := _of_item(taught, name)) is not None]


def worst(items: Sequence[ItemStatistics], most: int = 2) -> list[ItemStatistics]:
    """Return the `most` worst items that have advice."""
    return sorted((one for one in items if one.advice), key=lambda one: one.badness)[:most]


def _items(taught: Taught) -> list[str]:
    """Return the items in the order of the syllabus, then the instructor's own cells."""
    released = dict.fromkeys(name for work in taught.graded.values() if work.scores for name in work.scores.maxima)
    known = [item.name for item in taught.topic.items if item.name in released]
    return [*known, *(name for name in released if name not in known)]


def _of_item(taught: Taught, name: str) -> ItemStatistics | None:
    here: list[float] = []
    pairs: list[tuple[float, float]] = []
    for scores in (work.scores for work in taught.graded.values()):
        if scores is None or scores.cells.get(name) is None or name in scores.waiting or not scores.maxima[name]:
            continue
        share = (scores.cells[name] or 0.0) / scores.maxima[name]
        here.append(share)
        if (rest := share_of(scores, without=name)) is not None:
            pairs.append((share, rest))
    if not here:
        return None
    by_hand = any(item.name == name and item.kind == "question" for item in taught.topic.items)
    return ItemStatistics(taught.topic.folder, name, len(here), statistics.fmean(here), _correlation(pairs), by_hand)


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return the correlation of two columns, or None if one of them is constant."""
    try:
        return statistics.correlation(*zip(*pairs, strict=True))
    except (statistics.StatisticsError, TypeError):  # too few values, or a constant column
        return None
