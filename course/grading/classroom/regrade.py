"""`course requests`: list what students want to be looked at again, with answer, verdict and points, and decide."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import indent
from typing import Any

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.course_files.catalogue import counted
from course.grading.course_files.cells import METADATA, SOLUTION_SUFFIX, grade_id
from course.grading.gradebook.scores import Marks, Scores, read_scores
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.intake.regrade_requests import (
    Decision,
    Request,
    decide,
    keep_requests,
    kept_requests,
    read_requests,
)
from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog, Save, add_save
from course.judge.report import headline, where_to_look
from course.judge.verdict import Verdict
from course.problem import Problem
from course.syllabus import Topic


@dataclass(frozen=True)
class Beside:
    """What stands beside a request: the answer, the verdict in sentences, and points, None while undecided."""

    answer: str
    verdict: tuple[str, ...]
    points: float | None
    most: float


class Requests:
    """The regrade requests of a topic, with what was graded."""

    def __init__(self, course: Course, topic: Topic) -> None:
        self.course, self.topic, self.name = course, topic, topic.folder
        self.classroom = Classroom(course, topic)
        self.all = kept_requests(course.root, self.name)

    def find(self, number: int) -> Request:
        """Return the request with a number.

        Raises:
            Problem: there is none.
        """
        found = next((one for one in self.all if one.number == number), None)
        if found is None:
            there = counted(len(self.all), "request")
            raise Problem(
                f"{self.name} has {there}, and none with the number {number}. Run `course requests {self.name}`"
            )
        return found

    def beside(self, one: Request) -> Beside | None:
        """Return what was graded, or None if the gradebook has no such exercise of this student."""
        asked = one.asked
        scores = self._scores(asked.student)
        if scores is None or asked.exercise not in scores.cells:
            return None
        nb = self._graded(asked.student)
        cells = {grade_id(cell): "".join(cell.get("source", "")) for cell in nb.get("cells", ())}
        answer = cells.get(asked.exercise + SOLUTION_SUFFIX, cells.get(asked.exercise, ""))
        kept = nb.get("metadata", {}).get(METADATA, {}).get("verdicts", {}).get(asked.exercise)
        verdict = Verdict.from_dict(kept) if kept else None
        told = (headline(verdict), *where_to_look(verdict)) if verdict else ()
        return Beside(answer, told, scores.cells[asked.exercise], scores.maxima[asked.exercise])

    def lines(self, one: Request) -> Iterator[str]:
        """Yield the lines about one request."""
        asked, beside = one.asked, self.beside(one)
        points = f"{_number(beside.points)} of {beside.most:g} points" if beside else "not in the gradebook"
        by = f", sent by {one.sender}, whom the class list does not have" if one.sender else ""
        yield f"{one.number}  {asked.student}, {asked.exercise}: {points}. Asked on {one.came}{by}"
        yield from _block("Reason", asked.reason)
        if beside:
            yield from _block("Verdict", "\n".join(beside.verdict) or "(a person gives the points)")
            yield from _block("Answer", beside.answer)
        if decision := one.decision:
            yield from _block(f"Decided on {decision.at[:10]} by {decision.by} ({_change(decision)})", decision.because)

    def settle(self, one: Request, because: str, points: float | None) -> Decision:
        """Keep a decision, and give `points` in the gradebook unless they are None.

        Raises:
            Problem: the gradebook lacks the exercise, the points do not fit it, or the topic is being graded.
        """
        beside = self.beside(one)
        if beside is None:
            raise Problem(
                f"the gradebook has no {one.asked.exercise} of {one.asked.student}. Check the request's names"
            )
        if points is not None and not 0 <= points <= beside.most:
            raise Problem(f"{points:g} are no points for {one.asked.exercise}. Give 0 to {beside.most:g}")
        if points is None and beside.points is None:
            raise Problem(
                f"{one.asked.exercise} is not graded yet. Add --points and a number from 0 to {beside.most:g}"
            )
        after = beside.points if points is None else points
        now = datetime.now(UTC).astimezone(self.course.outline.zone).isoformat(timespec="seconds")
        decision = Decision(because, getpass.getuser(), now, beside.points, after)
        with topic_lock(self.course.root, self.name):
            if points is not None:
                self._give(one, points, decision.by)
            decide(self.course.root, self.name, one.number, decision)
        return decision

    def _give(self, one: Request, points: float, grader: str) -> None:
        """Write points given by hand into nbgrader's gradebook, as formgrader does, and log who gave them."""
        from nbgrader.api import Gradebook

        student, exercise = one.asked.student, one.asked.exercise
        log = GradingLog(self.course.root)
        with log.writing() as connection, Gradebook(self._database) as gradebook:
            marks = Marks.of(gradebook, self.name, self.name, student)
            grade, comment = marks.grades[exercise], marks.comments.get(exercise)
            by_hand = points - (grade.extra_credit or 0.0)
            grade.manual_score, grade.needs_manual_grade = by_hand, False
            earlier = log.saves(Answer(self.name, student, exercise))
            criteria = earlier[-1].criteria if earlier else ()
            text = comment.manual_comment if comment is not None else None
            save = Save(grader, by_hand, grade.extra_credit, text, criteria, by_hand=True)
            add_save(connection, Answer(self.name, student, exercise), save)
            gradebook.db.commit()

    def _scores(self, student: str) -> Scores | None:
        return read_scores(self._database, self.name, student, self.name)

    @property
    def _database(self) -> str:
        return str(self.classroom.coursedir().db_url)

    def _graded(self, student: str) -> dict[str, Any]:
        try:
            nb: dict[str, Any] = json.loads(
                (self.classroom.autograded(student) / f"{self.name}.ipynb").read_text("utf-8")
            )
        except (OSError, ValueError):
            return {}
        return nb


def list_requests(course: Course, topic: Topic, *, decided: bool = False) -> int:
    """Print the open requests of a topic, and the `decided` ones if asked."""
    requests = Requests(course, topic)
    done = [one for one in requests.all if one.decision]
    waiting = [one for one in requests.all if not one.decision]
    print(f"{topic.folder}: {counted(len(waiting), 'open request')}, {len(done)} decided")
    for one in [*waiting, *(done if decided else ())]:
        print()
        print("\n".join(requests.lines(one)))
    if waiting:
        command = f'course requests {topic.folder} --decide {waiting[0].number} --points 2 --because "…"'
        print(f"\nTo decide, run `{command}`. Without --points the points stay.")
    return 0


def take_requests(course: Course, topic: Topic, file: Path) -> int:
    """Keep the requests in a text that came by mail.

    Raises:
        Problem: the file holds no request for the topic.
    """
    asked = [one for one in read_requests(file) if one.topic == topic.folder]
    if not asked:
        line = f"regrade {topic.folder}, EXERCISE, STUDENT: REASON"
        raise Problem(f"{file} holds no request for {topic.folder}. A request has the line `{line}`")
    new = keep_requests(
        course.root, topic.folder, ((one, "") for one in asked), f"{datetime.now(course.outline.zone):%Y-%m-%d}"
    )
    print(f"{topic.folder}: {counted(len(new), 'new request')}, {len(asked) - len(new)} known before")
    return 0


def decide_request(course: Course, topic: Topic, number: int, because: str, points: float | None) -> int:
    """Decide a request, and print what becomes of it.

    Raises:
        Problem: it cannot be decided so.
    """
    if not because.strip():
        raise Problem("a decision needs a reason, which the student reads. Add --because and a sentence")
    requests = Requests(course, topic)
    one = requests.find(number)
    decision = requests.settle(one, because.strip(), points)
    print(f"{one.asked.student}, {one.asked.exercise}: {_change(decision)}. {decision.because}")
    print(f"The student reads it after `nbgrader generate_feedback {topic.folder} --force`, or after `course send`.")
    return 0


def _block(title: str, text: str) -> Iterator[str]:
    yield f"   {title}"
    yield indent(text, "     ")


def _change(decision: Decision) -> str:
    if not decision.changes:
        return "the points stay"
    return f"{_number(decision.before)} to {_number(decision.after)} points"


def _number(points: float | None) -> str:
    return "none" if points is None else f"{points:.4g}"
