"""Collect what a class answered to questions about its own code, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from course.grading.viva.marks import Marked, best_of_each, said_of_chance
from course.grading.viva.round import rounds
from course.syllabus import Topic

KINDS = {
    "trace": "what a variable is after a line",
    "what happens": "what a call returns",
    "tell apart": "which call shows a change",
    "find the change": "which change gives a result",
    "alters nothing": "which change alters no result",
}
"""What each kind of question asks."""

Count = tuple[int, int]
"""The right answers, and all that count."""


@dataclass(frozen=True)
class Viva:
    """All marked sheets of a topic, those of retakes included."""

    marked: tuple[Marked, ...]

    @classmethod
    def of(cls, root: Path, topic: Topic) -> Viva:
        """Read the marked sheets of a topic.

        Raises:
            Problem: one of their files is damaged.
        """
        return cls(tuple(one for each in rounds(root, topic) for one in each.results()))

    @property
    def students(self) -> int:
        """Return the number of students who answered a sheet."""
        return len({one.student for one in self.marked})

    @property
    def kinds(self) -> list[str]:
        """Return the kinds of questions that were asked."""
        return sorted({key.kind for one in self.marked for key, _ in one.counted})

    @property
    def legend(self) -> str:
        """Return what these kinds ask."""
        return ", ".join(f"{kind}: {KINDS[kind]}" for kind in self.kinds if kind in KINDS)

    def table(self, exercises: Sequence[str]) -> list[tuple[str, list[Count]]]:
        """Return for each exercise, and then for all, the counts by kind and the sum. `exercises` gives the order."""
        asked = {key.exercise for one in self.marked for key, _ in one.counted}
        rows = [(name, [name]) for name in exercises if name in asked]
        return [
            (name, [*(self._count(names, [kind]) for kind in self.kinds), self._count(names, self.kinds)])
            for name, names in [*rows, ("all", sorted(asked))]
        ]

    def _count(self, exercises: Sequence[str], kinds: Sequence[str]) -> Count:
        answers = [
            is_right
            for one in self.marked
            for key, is_right in one.counted
            if key.exercise in exercises and key.kind in kinds
        ]
        return sum(answers), len(answers)

    @property
    def weak(self) -> list[Marked]:
        """Return the best sheet of each student whose best one is weak, the weakest first."""
        found = [one for one in best_of_each(self.marked).values() if one.is_weak]
        return sorted(found, key=lambda one: (one.share, one.student))

    @property
    def chance(self) -> list[str]:
        """Return what chance alone does, for each number of questions on these sheets."""
        return [said_of_chance(number) for number in sorted({len(one.counted) for one in self.marked} - {0})]
