"""Compute a final grade from a student's shares of the points, exactly, and round it once.

The gradebook holds points as binary floats, of which a sum may be 89.49999999999999 where it should be 89.5. So each
number is read as the plain fraction that it stands for, all arithmetic is that of fractions, and only the result is
rounded, half up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Literal

from course.grading.gradebook.scores import Scores
from course.outline import Final

FINEST = 10**6
"""The largest denominator of a number in the gradebook: two such fractions lie further apart than floats can err."""

State = Literal["counts", "missing", "extra", "dropped", "excused", "ungraded", "open"]
"""What a part is to a student's final grade.

It `counts`, or is `missing` and counts as 0. An `extra` one adds its points and is not asked for. One that is
`dropped`, `excused`, handed in but `ungraded`, or still `open` does not count.
"""


@dataclass(frozen=True)
class Part:
    """A topic or viva of a student: the share of the points, the weight, and whether answers `wait` for a grader."""

    name: str
    weight: Fraction
    state: State
    share: Fraction = Fraction(0)
    waits: bool = False


@dataclass(frozen=True)
class FinalGrade:
    """A student's final grade in percent, and how it came about.

    `mean` is the weighted mean share of what counts, `extra` the share that extra credit adds, and `grade` the result
    after the cap, rounded. All are None while nothing counts yet.
    """

    student: str
    parts: tuple[Part, ...]
    mean: Fraction | None = None
    extra: Fraction | None = None
    grade: Decimal | None = None

    @property
    def waits(self) -> bool:
        """Return whether answers that count wait for a grader."""
        return any(part.waits and part.state in ("counts", "extra") for part in self.parts)


def final_grade(rule: Final, student: str, parts: Sequence[Part]) -> FinalGrade:
    """Return the final grade of a student by the rule of `course.toml`."""
    parts = _dropping(rule, parts)
    counted = [part for part in parts if part.state in ("counts", "missing")]
    weight = sum((part.weight for part in counted), Fraction())
    if not weight:
        return FinalGrade(student, tuple(parts))
    mean = _sum(counted) / weight
    asked = sum((part.weight for part in parts if part.name not in rule.extra_credit), Fraction())
    extra = _sum([part for part in parts if part.state == "extra"]) / asked  # worth the same to all students
    percent = min(100 * (mean + extra), Fraction(rule.cap))
    return FinalGrade(student, tuple(parts), mean, extra, half_up(percent, rule.decimals))


def _dropping(rule: Final, parts: Sequence[Part]) -> list[Part]:
    """Return the parts, the lowest of them dropped. The last that counts stays, and none goes that lifts the mean."""
    kept, dropped = [part for part in parts if part.state in ("counts", "missing") and part.weight], []
    for _ in range(rule.drop_lowest):
        candidates = [part for part in kept if part.name not in rule.never_dropped]
        if len(kept) < 2 or not candidates:
            break
        lowest = min(candidates, key=lambda part: (part.share, -part.weight))
        if lowest.share * sum(part.weight for part in kept) > _sum(kept):
            break
        kept.remove(lowest)
        dropped.append(lowest.name)
    return [replace(part, state="dropped") if part.name in dropped else part for part in parts]


def _sum(parts: Sequence[Part]) -> Fraction:
    return sum((part.weight * part.share for part in parts), Fraction())


def half_up(number: Fraction, decimals: int) -> Decimal:
    """Return a number of 0 or more with so many decimals. A half is rounded up, as in school."""
    return Decimal(floor(number * 10**decimals + Fraction(1, 2))).scaleb(-decimals)


def as_fraction(number: float) -> Fraction:
    """Return the plain fraction that a number of the gradebook stands for, such as 3/10 for 0.1 + 0.2."""
    return Fraction(number).limit_denominator(FINEST)


def points_after_penalty(scores: Scores) -> Fraction:
    """Return the points of a submission after the late penalty, exactly. Answers without a grade have none."""
    points = sum((as_fraction(score or 0.0) for score in scores.cells.values()), Fraction())
    if not points or not scores.late:
        return max(points, Fraction())
    return max(points * (1 - as_fraction(scores.late / scores.score)), Fraction())


def points_asked(scores: Scores, extra: Collection[str]) -> Fraction:
    """Return the most points of a submission without those of the `extra` exercises."""
    return sum((as_fraction(most) for name, most in scores.maxima.items() if name not in extra), Fraction())
