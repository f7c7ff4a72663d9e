"""Verdicts: what the judge decided about one exercise, with a kind, a score and messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..syllabus import FollowThrough

HOW_LARGE = "How large are its intermediate tensors?"
"""What is asked of an answer that needs more memory than there is."""

CASES = ("cases", "unreached")
"""The fields of a verdict that hold cases."""

HeldBack = Literal["together", "public", "error"]
"""Why a case that passes earns nothing: one that it counts with fails, no hidden one passes, or none with a value."""

Kind = Literal["passed", "partial", "wrong", "error", "time", "memory", "forbidden", "missing", "not-graded"]


@dataclass(frozen=True)
class CaseResult:
    """How one case went: `message` says what was seen, in the student's terms; empty when it passed.

    `held_back` says why it earns nothing though it passes, because others fail; None where it does not pass itself.
    `measured` is what a public case of a training task measured, beside its bars. `got` is what the answer gave, and
    `right` what kind of value of which size a right one gives: for who grades, and in no report to a student.
    """

    title: str
    passed: bool
    public: bool
    weight: float = 1.0
    message: str = ""
    held_back: HeldBack | None = None
    measured: str = ""
    got: str = ""
    right: str = ""


@dataclass(frozen=True)
class Verdict:
    """The judge's decision on one exercise.

    `score` is in points, `0 <= score <= points`. `misconception` is the name of the recognised one and `hint` its
    hint; `message` is the first thing to say; `convention` names the published variant that was computed instead;
    `unconfirmed` says that hidden cases rule out what `check` says of the public ones;
    `rests_on` names an earlier exercise whose answer this one calls, and which fails itself;
    `correct_given_prerequisite` says that this answer was seen to be right otherwise, `cannot_tell` that only a person
    can say whether it is.
    `follow_through` is the course's setting for such answers, `lose` or `keep`; `score` is what the tests give by
    themselves, `earned` what the answer gets under that setting.
    `notes` say how the answer was examined where its notebook would have it otherwise, and what stood in its way.
    `unreached` are the cases that were not run, because time or memory ran out before them, or the kernel went away.
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
        """Whether it gets all its points though tests fail, because it is right but for an earlier mistake."""
        return self.follow_through == "keep" and self.correct_given_prerequisite and not self.cannot_tell

    @property
    def by_hand(self) -> bool:
        """Whether a person has to decide how many points it gets."""
        return self.follow_through == "keep" and self.cannot_tell

    @property
    def decided_anew(self) -> bool:
        """Whether the course's setting makes something else of it than the tests do."""
        return self.keeps or self.by_hand

    @property
    def earned(self) -> float:
        """The points it gets: where a person is still to decide, those that the tests give."""
        return self.points if self.keeps else self.score

    def under(self, follow_through: FollowThrough) -> Verdict:
        """The same verdict under a course's setting."""
        return replace(self, follow_through=follow_through)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**vars(self), **{name: [dict(vars(case)) for case in getattr(self, name)] for name in CASES}}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Verdict:
        """The inverse of `to_dict`."""
        cases = {name: tuple(CaseResult(**case) for case in values.get(name, ())) for name in CASES}
        return cls(**{**values, **cases, "notes": tuple(values.get("notes", ()))})

    @classmethod
    def without_points(cls, exercise: str, kind: Kind, points: float, message: str) -> Verdict:
        """A verdict reached without judging any case: nothing arrived, time ran out, or the kernel died."""
        return cls(exercise, kind, 0.0, points, message)
