"""Scale the grades of a topic to the points of its assignment on a platform."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course.grading.problem import Problem


@dataclass(frozen=True)
class Scale:
    """A scale from the `points` of a topic here to the `most` points of its assignment on a platform."""

    points: float
    most: float

    @property
    def is_other(self) -> bool:
        """Whether scaling changes grades. A topic of 0 points gives 0 on any scale."""
        return bool(self.points) and self.most != self.points

    def of(self, score: float) -> float:
        """Return the points on the platform for a score here."""
        return score * self.most / self.points if self.points else 0.0


def read_points(text: str, where: str) -> float:
    """Return the number of points in a cell, with a decimal point or comma; `where` names the cell in the error.

    Raises:
        Problem: the cell holds no number of points.
    """
    if re.fullmatch(r"\d+([.,]\d+)?", text.strip()) is None:
        raise Problem(f"{where} has {text!r} points. Write a plain number, such as 100")
    return float(text.strip().replace(",", "."))
