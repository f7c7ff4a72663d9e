"""Find what shows over a term: students who fall behind, and misconceptions that return in several topics."""

from __future__ import annotations

import re
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


IDEAS: dict[str, str] = {
    "numbers that overflow, or a logarithm of zero": r"overflow|infinit|logarithm_of_zero|nan\b|underflow",
    "a softmax too often, or over the wrong axis": r"softmax",
    "a mask that is turned round, forgotten or too wide": r"mask|padd",
    "scores that are not scaled": r"scale|root",
    "a mean over the wrong count": r"mean|divided|average|sum_for|sums",
    "a wrong axis, such as the batch": r"batch|axis|along|column|transpose|rows",
    "one position too early or too late": r"one_too|too_early|too_late|off_by|shift|ahead|behind",
    "a training that does not start or does not end": r"never_trained|nearly_there|diverged|stopped|frequencies_alone",
    "a bias that is forgotten or added": r"bias",
    "an order that is turned round": r"revers|exchanged|inverted|swapped|backwards",
}
"""A regular expression for the misconception names of each idea; the first idea that matches counts."""


@dataclass(frozen=True)
class Returning:
    """An idea that is misunderstood in several topics.

    `by_topic` counts the students by topic, `names` are the misconceptions, and `again` are the students who show the
    idea in more than one topic.
    """

    idea: str
    by_topic: dict[str, int]
    names: tuple[str, ...]
    again: tuple[str, ...]


def returning(term: Sequence[Taught]) -> list[Returning]:
    """Return the ideas misunderstood in several topics, sorted by the number of students who repeat them."""
    who: dict[str, dict[str, set[str]]] = {}
    names: dict[str, set[str]] = {}
    for taught in term:
        for student, work in taught.graded.items():
            for verdict in work.verdicts.values():
                if verdict.misconception and not verdict.convention:
                    idea = idea_of(verdict.misconception)
                    who.setdefault(idea, {}).setdefault(taught.topic.folder, set()).add(student)
                    names.setdefault(idea, set()).add(spoken(verdict.misconception))
    found = [
        Returning(
            idea,
            {folder: len(students) for folder, students in topics.items()},
            tuple(sorted(names[idea])),
            _again(list(topics.values())),
        )
        for idea, topics in who.items()
        if len(topics) > 1
    ]
    return sorted(found, key=lambda one: (-len(one.again), -sum(one.by_topic.values()), one.idea))


def _again(topics: Sequence[set[str]]) -> tuple[str, ...]:
    everybody = set().union(*topics)
    return tuple(sorted(student for student in everybody if sum(student in some for some in topics) > 1))


def idea_of(misconception: str) -> str:
    """Return the idea behind a misconception's name, or the name itself."""
    name = _snake(misconception)
    return next((idea for idea, words in IDEAS.items() if re.search(words, name)), spoken(misconception))


def spoken(misconception: str) -> str:
    """Return a misconception's name as words."""
    return _snake(misconception).replace("_", " ")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
