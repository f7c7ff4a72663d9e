"""The judge's decision on one exercise: a kind, a score, and messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..syllabus import FollowThrough

HOW_LARGE = "How large are its intermediate tensors?"
"""Question for an answer that runs out of memory."""

CASES = ("cases", "unreached")
"""Fields of a verdict that hold cases."""

HeldBack = Literal["together", "public", "error"]
"""Why a passing case earns nothing: a case it needs fails, no hidden case passes, or no case with a value passes."""

Kind = Literal["passed", "partial", "wrong", "error", "time", "memory", "forbidden", "missing", "not-graded"]


@dataclass(frozen=True)
class CaseResult:
    """The result of one case. `message` says what was seen, in the student's terms. It is empty if the case passed.

    `held_back` says why a case that passes earns nothing because others fail, and is None otherwise. `needs` is the
    title of the failing case that it counts together with, if that is why.
    `measured` is what a public case of a training task measured, beside its bars. `got` is what the answer gave, and
    `right` the kind and size of the right value. Both are for instructors only and in no report to a student.
    """

    title: str
    passed: bool
    public: bool
    weight: float = 1.0
    message: str = ""
    held_back: HeldBack | None = None
    needs: str = ""
    measured: str = ""
    got: str = ""
    right: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judge's decision on one exercise.

    `score` is in points, `0 <= score <= points`. `misconception` is the name of the recognised one and `hint` its
    hint. `message` is the first thing to say. `convention` names a published variant that was computed instead.
    `unconfirmed` means that hidden cases rule out what `check` says about the public ones.
    `rests_on` names an earlier exercise that fails and whose answer this one calls.
    `correct_given_prerequisite` means that this answer is confirmed as right otherwise, and `cannot_tell` that a person
    has to decide whether it is.
    `follow_through` is the course's setting for such answers, `lose` or `keep`. `score` is the score of the tests
    alone, and `earned` the score under that setting.
    `notes` list deviations in how the answer was run from what its notebook sets up, and obstacles.
    `unreached` are the cases that did not run, because time or memory ran out, or the kernel died.
    `not-graded` is a failure of the grading machine. It costs no points and is retried.
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
    correct_given_prerequisite: bool = False
    cannot_tell: bool = False
    follow_through: FollowThrough = "lose"
    unconfirmed: bool = False
    notes: tuple[str, ...] = ()
    cases: tuple[CaseResult, ...] = field(default=())
    unreached: tuple[CaseResult, ...] = field(default=())
    seconds: float = 0.0

    @property
    def keeps(self) -> bool:
        """Return whether the answer keeps all points although tests fail, because only an earlier mistake causes it."""
        return self.follow_through == "keep" and self.correct_given_prerequisite and not self.cannot_tell

    @property
    def by_hand(self) -> bool:
        """Return whether a person has to decide the points."""
        return self.follow_through == "keep" and self.cannot_tell

    @property
    def decided_anew(self) -> bool:
        """Return whether the course's setting can change the score of the tests."""
        return self.keeps or self.by_hand

    @property
    def earned(self) -> float:
        """Return the points earned. Until a person decides, these are the points of the tests."""
        return self.points if self.keeps else self.score

    def under(self, follow_through: FollowThrough) -> Verdict:
        """Return the same verdict under another setting for follow-through."""
        return replace(self, follow_through=follow_through)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**vars(self), **{name: [dict(vars(case)) for case in getattr(self, name)] for name in CASES}}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Verdict:
        """Return the verdict from the output of `to_dict`."""
        cases = {name: tuple(CaseResult(**case) for case in values.get(name, ())) for name in CASES}
        return cls(**{**values, **cases, "notes": tuple(values.get("notes", ()))})

    @classmethod
    def without_points(cls, exercise: str, kind: Kind, points: float, message: str) -> Verdict:
        """Return a verdict without any judged case: nothing was submitted, time ran out, or the kernel died."""
        return cls(exercise, kind, 0.0, points, message)
