"""Render one student's work on a topic as a page for the instructor: every check, its verdict, and its points."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.summary import AGAIN, graded_cells
from course.grading.gradebook.scores import Scores
from course.grading.gradebook.students import known_people
from course.grading.report.findings import became
from course.grading.report.page import fill
from course.judge.points import how_points_follow
from course.judge.report import UNCONFIRMED, headline, where_to_look
from course.judge.verdict import CaseResult, Verdict
from course.problem import Problem
from course.syllabus import Topic

CHANGED = 0.005
"""The difference in points above which it is not just rounding."""


@dataclass(frozen=True)
class Cell:
    """A graded cell: its points in the gradebook, None while undecided, and sentences that explain them."""

    name: str
    score: float | None
    most: float
    verdict: Verdict | None
    told: tuple[str, ...]
    comment: str = ""
    """The grader's manual comment."""

    @property
    def is_full(self) -> bool:
        """Whether the cell has all its points."""
        return self.score is not None and self.score >= self.most

    @property
    def is_explained(self) -> bool:
        """Whether a check fails or a person wrote a comment, so that the cell needs an explanation."""
        return bool(self.comment) or (self.verdict is not None and self.verdict.kind != "passed")

    @property
    def is_weighted(self) -> bool:
        """Whether some of the cell's checks weigh more than others."""
        return len({case.weight for case, _, _ in self.cases()}) > 1

    @property
    def headline(self) -> str:
        """Return the judge's verdict in a few words."""
        return headline(self.verdict) if self.verdict else ""

    def cases(self) -> list[tuple[CaseResult, str, str]]:
        """Return every check with its result in words and the result's CSS class."""
        if self.verdict is None:
            return []
        ran = [(case, *_how_it_went(case)) for case in self.verdict.cases]
        return [*ran, *((case, "did not run", "quiet") for case in self.verdict.unreached)]


def _how_it_went(case: CaseResult) -> tuple[str, str]:
    if case.held_back:
        return "passes, earns nothing", "part"
    return ("passes", "good") if case.passed else ("fails", "bad")


def work_of(classroom: Classroom, student: str) -> Graded:
    """Return the graded work of a student.

    Raises:
        Problem: the student has no submission, or it is not graded.
    """
    name, submissions = classroom.topic.folder, classroom.handed_in.submissions()
    if student not in submissions:
        alike = _called(student, classroom, submissions) or get_close_matches(student, submissions, n=1)
        hint = f". Did you mean {' or '.join(alike)}?" if alike else ""
        raise Problem(f"there is no submission of {name} by {student}{hint}")
    work = became(classroom, student, submissions[student])
    if work.reason:
        raise Problem(f"{name} by {student} is not graded: {work.reason}")
    if work.scores is None:
        raise Problem(f"{name} by {student} is not graded yet. Run `course grade {name}` first")
    return work


def _called(name: str, classroom: Classroom, students: Iterable[str]) -> list[str]:
    """Return the ids of those `students` whose full name in the class list is `name`."""
    people = {person.id: person.about for person in known_people(classroom.coursedir().db_url)}
    full = {one: f"{about.get('first_name')} {about.get('last_name')}" for one, about in people.items()}
    return [one for one in students if one in full and full[one].casefold() == name.casefold()]


def render(
    topic: Topic, work: Graded, made: datetime.datetime, comments: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the page, dated `made`; `comments` are the manual comments by cell name."""
    assert work.scores is not None
    cells = [
        replace(cell_of(name, work.scores, work.verdicts.get(name)), comment=comments.get(name, ""))
        for name in graded_cells(topic, [work])
    ]
    return fill(
        "student.html.j2", topic=topic, work=work, scores=work.scores, cells=cells, made=f"{made:%d %B %Y, %H:%M}"
    )


def cell_of(name: str, scores: Scores, verdict: Verdict | None) -> Cell:
    """Return a cell with its points in the gradebook and sentences that explain them."""
    return Cell(name, scores.cells[name], scores.maxima[name], verdict, tuple(_told(name, scores, verdict)))


def _told(name: str, scores: Scores, verdict: Verdict | None) -> Iterator[str]:
    score, most = scores.cells[name], scores.maxima[name]
    if verdict is None and score is None:
        yield "It waits for you in formgrader."
    if verdict is not None:
        yield from _of_the_judge(verdict)
        earned = verdict.earned * most / verdict.points if verdict.points else 0.0
        if score is not None and name not in scores.waiting and abs(score - earned) > CHANGED:
            yield f"The checks give {earned:.4g} points. The gradebook has {score:.4g}, which a person gave."
    if name in scores.waiting:
        yield "It waits for you in formgrader."
    if name in scores.again:
        yield f"It was {AGAIN}."


def _of_the_judge(verdict: Verdict) -> Iterator[str]:
    if sums := how_points_follow(verdict):
        yield sums
    if verdict.message and not verdict.cases:
        yield verdict.message
    if verdict.misconception:
        yield f"The answer shows a known misconception, `{verdict.misconception}`."
    if verdict.convention:
        yield f"This computation is correct under another convention: {verdict.convention}."
    if verdict.unconfirmed:
        yield UNCONFIRMED
    for hint in where_to_look(verdict):
        yield f"Feedback says: {hint}"
