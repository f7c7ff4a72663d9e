"""Points on a platform: what an assignment is worth there, and the grades of a topic scaled to it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course.grading.problem import Problem


@dataclass(frozen=True)
class Scale:
    """From the `points` of a topic here to the `most` that its assignment has on a platform."""

    points: float
    most: float

    @property
    def is_other(self) -> bool:
        """Whether a grade is another number there. A topic of no points gives 0 on any scale."""
        return bool(self.points) and self.most != self.points

    def of(self, score: float) -> float:
        """The points there for a score here."""
        return score * self.most / self.points if self.points else 0.0


def read_points(text: str, where: str) -> float:
    """The number of points in a cell, with a decimal point or comma; `where` names the cell in the error.

    Raises:
        Problem: the cell holds no number of points.
    """
    if re.fullmatch(r"\d+([.,]\d+)?", text.strip()) is None:
        raise Problem(f"{where} has {text!r} points. Write a plain number, such as 100")
    return float(text.strip().replace(",", "."))
