"""`course attempts`: all that a student handed in for a topic, and an earlier attempt graded in place of the last."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from course.files import write_atomically
from course.grading.catalogue import counted, hours
from course.grading.classroom.absent import extended_due
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.groups import group_of
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.gradebook.scores import due_of, read_scores
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.intake.attempts import FOLDER, Attempt, attempts_of, put_back
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.problem import Problem
from course.syllabus import Topic

POINTS = ".points.json"
"""The file beside a student's attempts with the points that earlier ones had while they counted, by their digest."""


class Attempts:
    """All attempts of a student at a topic, oldest first.

    Raises:
        Problem: nothing of the student was collected.
    """

    def __init__(self, root: Path, topic: Topic, student: str) -> None:
        if Path(student).name != student or student.startswith("."):
            raise Problem(f"{student} cannot be a student's name. Give the name of a folder in submitted/")
        self.root, self.topic, self.student = root, topic, student
        self.classroom = Classroom(root, topic)
        self.all = attempts_of(root, student, topic.folder, self.classroom.submitted(student))
        if not self.all:
            raise Problem(f"{student} handed in nothing for {topic.folder}. Check the name")

    def lines(self) -> list[str]:
        """A line for each attempt: its number, when it came, how late, its points and where it is."""
        due = due_of(self.classroom.coursedir().db_url, self.topic.folder, self.student)
        due = extended_due(self.topic).get(self.student, due)
        earlier = self._earlier_points()
        rows = [
            [
                str(number),
                _when(one, self.topic),
                _late(one, due),
                self._points() if one.counts else earlier.get(one.digest, ""),
                _shown(one.place, self.root),
                "counts" if one.counts else "",
            ]
            for number, one in enumerate(self.all, 1)
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths) if width).rstrip() for row in rows]

    def choose(self, number: int) -> Attempt:
        """Have the attempt of that number count, for a group for all members; whatever counted before is kept.

        Raises:
            Problem: there is no such attempt, or the topic is being graded just now.
        """
        if number > len(self.all):
            there = counted(len(self.all), "attempt")
            raise Problem(f"{self.student} has {there} at {self.topic.folder}, so there is no number {number}")
        chosen = self.all[number - 1]
        with topic_lock(self.root, self.topic.folder):
            self._remember_points()
            for student in () if chosen.counts else group_of(self.topic, self.student):
                put_back(self.root, student, self.topic.folder, chosen, self.classroom.submitted(student))
        return chosen

    def _points(self) -> str:
        """The points of the attempt that counts; nothing where those in the gradebook are of an earlier one."""
        name = self.topic.folder
        with quiet():
            try:
                task = make_task(self.classroom, self.student, self.classroom.submitted(self.student))
            except Exception:  # whatever a step of nbgrader's raises: grading says it
                return ""
        scores = read_scores(self.classroom.coursedir().db_url, name, self.student, name)
        if scores is None or not LastGrading(self.classroom, self.student).is_of(task):
            return ""
        return f"{scores.score:g} / {scores.points:g}"

    def _earlier_points(self) -> dict[str, str]:
        try:
            return {str(name): str(points) for name, points in json.loads(self._file().read_text("utf-8")).items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def _remember_points(self) -> None:
        """Keep the points of the attempt that counts, for the list: the gradebook has those of one alone."""
        points = {one.digest: self._points() for one in self.all if one.counts}
        if any(points.values()):
            kept = self._earlier_points() | points
            write_atomically(self._file(), json.dumps(kept, indent=1).encode())

    def _file(self) -> Path:
        return self.root / FOLDER / self.student / self.topic.folder / POINTS


def list_attempts(root: Path, topic: Topic, student: str) -> int:
    """Print what a student handed in for a topic, and how to have an earlier attempt count."""
    found = Attempts(root, topic, student)
    print(f"{student}, {topic.folder}: {counted(len(found.all), 'attempt')}")
    print("\n".join(f"  {line}" for line in found.lines()))
    if len(found.all) > 1:
        print(f"To grade another one in its place, run `course attempts {student} {topic.folder} --grade NUMBER`")
    return 0


def grade_attempt(root: Path, topic: Topic, student: str, number: int) -> int:
    """Have an attempt count, grade it as `course grade` does, and print all attempts with their points."""
    from course.grading.classroom.grade_command import grade_topic

    chosen, students = Attempts(root, topic, student).choose(number), group_of(topic, student)
    if not chosen.counts:
        whose = ", ".join(students)
        print(f"{topic.folder}: {_shown(chosen.place, root)} counts for {whose} now. What counted before is kept")
    status = grade_topic(root, topic, students=students)
    print()
    list_attempts(root, topic, student)
    return status


def _when(one: Attempt, topic: Topic) -> str:
    """When an attempt came, in the zone of the due date."""
    if one.came is None:
        return "without a time"
    return f"{one.came.replace(tzinfo=UTC).astimezone(topic.due.tzinfo if topic.due else UTC):%Y-%m-%d %H:%M %z}"


def _late(one: Attempt, due: datetime | None) -> str:
    if one.came is None or due is None:
        return ""
    late = one.came.replace(tzinfo=UTC) - due
    if late <= timedelta():
        return "in time"
    if late < timedelta(days=2):
        return f"{hours(int(late.total_seconds() // 60))} late"
    return f"{late.days} days {late.seconds // 3600} h late"


def _shown(place: Path, root: Path) -> str:
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)
