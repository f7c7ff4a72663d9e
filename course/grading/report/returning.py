"""Find misconceptions that return in several topics, in other exercises and under other names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from course.grading.report.term import Taught

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
