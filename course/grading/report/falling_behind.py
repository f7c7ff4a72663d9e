"""Students who fall behind over a term: they handed in nothing twice, or their scores sink below the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from course.grading.report.term import Taught

MISSED = 2
"""Topics without a submission that are worth a word with a student."""

IN_A_ROW = 3
"""So many graded topics in a row must each lie further below the class's median, or less far above it."""

FALL = 0.15
"""By so much of the points they must have fallen in all."""


@dataclass(frozen=True)
class Behind:
    """A student with the topics `missed`, and the shares of the points in topics that `fell`, if they did."""

    student: str
    missed: tuple[str, ...]
    fell: tuple[tuple[str, float], ...]


def falling_behind(term: Sequence[Taught]) -> list[Behind]:
    """Who falls behind, those who missed most first."""
    students = sorted({student for taught in term for student in (*taught.submitted, *taught.absent)})
    found = [Behind(student, _missed(term, student), _fell(term, student)) for student in students]
    return sorted((one for one in found if one.missed or one.fell), key=lambda one: (-len(one.missed), one.student))


def _missed(term: Sequence[Taught], student: str) -> tuple[str, ...]:
    missed = tuple(taught.topic.folder for taught in term if student in taught.absent)
    return missed if len(missed) >= MISSED else ()


def _fell(term: Sequence[Taught], student: str) -> tuple[tuple[str, float], ...]:
    """The last topics, where each lies lower against the class than the one before it."""
    shares = [(taught, taught.shares()[student]) for taught in term if student in taught.shares()][-IN_A_ROW:]
    against = [share - taught.median for taught, share in shares]
    sinks = all(later < earlier for earlier, later in pairwise(against))
    if len(shares) < IN_A_ROW or not sinks or against[0] - against[-1] < FALL:
        return ()
    return tuple((taught.topic.folder, share) for taught, share in shares)
