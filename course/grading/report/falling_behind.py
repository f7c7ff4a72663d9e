"""Find students who fall behind over a term: they missed two topics, or their scores sink against the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from course.grading.report.term import Taught

MISSED = 2
"""The number of topics without a submission from which a student is reported."""

IN_A_ROW = 3
"""The number of consecutive graded topics in which a score must sink against the class's median each time."""

FALL = 0.15
"""The least total fall, as a share of the points."""


@dataclass(frozen=True)
class Behind:
    """A student with the topics `missed`, and the last topics' shares of the points, if they `fell`."""

    student: str
    missed: tuple[str, ...]
    fell: tuple[tuple[str, float], ...]


def falling_behind(term: Sequence[Taught]) -> list[Behind]:
    """Return the students who fall behind, sorted by the number of missed topics."""
    students = sorted({student for taught in term for student in (*taught.submitted, *taught.absent)})
    found = [Behind(student, _missed(term, student), _fell(term, student)) for student in students]
    return sorted((one for one in found if one.missed or one.fell), key=lambda one: (-len(one.missed), one.student))


def _missed(term: Sequence[Taught], student: str) -> tuple[str, ...]:
    missed = tuple(taught.topic.folder for taught in term if student in taught.absent)
    return missed if len(missed) >= MISSED else ()


def _fell(term: Sequence[Taught], student: str) -> tuple[tuple[str, float], ...]:
    """Return the last topics with the student's shares, if each is lower against the class than the one before."""
    shares = [(taught, taught.shares()[student]) for taught in term if student in taught.shares()][-IN_A_ROW:]
    against = [share - taught.median for taught, share in shares]
    sinks = all(later < earlier for earlier, later in pairwise(against))
    if len(shares) < IN_A_ROW or not sinks or against[0] - against[-1] < FALL:
        return ()
    return tuple((taught.topic.folder, share) for taught, share in shares)
