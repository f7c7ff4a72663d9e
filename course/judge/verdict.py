"""Verdicts: what the judge decided about one exercise, with a kind, a score and messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

TOGETHER = "right, and too little by itself"
"""How the message of a case begins that counts together with one that fails."""

Kind = Literal["passed", "partial", "wrong", "error", "time", "memory", "forbidden", "missing", "not-graded"]


@dataclass(frozen=True)
class CaseResult:
    """How one case went: `message` says what was seen, in the student's terms; empty when it passed."""

    title: str
    passed: bool
    public: bool
    weight: float = 1.0
    message: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judge's decision on one exercise.

    `score` is in points, `0 <= score <= points`. `misconception` is the name of the recognised one and `hint` its
    hint; `message` is the first thing to say; `convention` names the published variant that was computed instead;
    `rests_on` names an earlier exercise whose answer this one calls, and which fails itself; `but_for_that` says that
    this answer was seen to be right otherwise.
    `not-graded` is a fault of the grading machine: it never costs points and is to be retried.
    """

    exercise: str
    kind: Kind
    score: float
    points: float
    message: str = ""
    misconception: str = ""
    hint: str = ""
    convention: str = ""
    rests_on: str = ""
    but_for_that: bool = False
    cases: tuple[CaseResult, ...] = field(default=())
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**vars(self), "cases": [dict(vars(case)) for case in self.cases]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Verdict:
        """The inverse of `to_dict`."""
        cases = tuple(CaseResult(**case) for case in values.get("cases", ()))
        return cls(**{**values, "cases": cases})

    @classmethod
    def without_points(cls, exercise: str, kind: Kind, points: float, message: str) -> Verdict:
        """A verdict reached without judging any case: nothing arrived, time ran out, or the kernel died."""
        return cls(exercise, kind, 0.0, points, message)
