"""`course attempts`: list a student's submissions of a topic, and grade an earlier one in place of the last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from course.clock import time_after
from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.groups import group_of
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.course_files.catalogue import counted, hours
from course.grading.gradebook.scores import due_of, read_scores
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.intake.attempts import Attempt, attempts_of, noted_points, put_back
from course.grading.nbgrader_bridge.log_capture import quiet
from course.problem import Problem
from course.syllabus import Topic


class Attempts:
    """All attempts of a student at a topic, oldest first.

    Raises:
        Problem: nothing of the student was collected.
    """

    def __init__(self, course: Course, topic: Topic, student: str) -> None:
        if Path(student).name != student or student.startswith("."):
            raise Problem(f"{student} cannot be a student's name. Give the name of a folder in submitted/")
        self.course, self.root, self.topic, self.student = course, course.root, topic, student
        self.classroom = Classroom(course, topic)
        self.all = attempts_of(self.root, student, topic.folder, self.classroom.submitted(student))
        if not self.all:
            raise Problem(f"{student} handed in nothing for {topic.folder}. Check the name")

    def lines(self) -> list[str]:
        """Return a line for each attempt: number, arrival time, lateness, points and path."""
        due = due_of(self.classroom.coursedir().db_url, self.topic.folder, self.student)
        due = self.course.outline.extended_due(self.topic.folder).get(self.student, due)
        rows = [
            [
                str(number),
                _when(one, self.topic, self.course.outline.zone),
                _late(one, due, self.course.outline.zone),
                self._points(one),
                _shown(one.place, self.root),
                "counts" if one.counts else "",
            ]
            for number, one in enumerate(self.all, 1)
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths) if width).rstrip() for row in rows]

    def choose(self, number: int) -> Attempt:
        """Make attempt `number` the one that counts, for all members of a group; keep a copy of the replaced work.

        Raises:
            Problem: there is no such attempt, or the topic is being graded now.
        """
        if number > len(self.all):
            there = counted(len(self.all), "attempt")
            raise Problem(f"{self.student} has {there} at {self.topic.folder}, so there is no number {number}")
        chosen = self.all[number - 1]
        with topic_lock(self.root, self.topic.folder):
            for student in () if chosen.counts else group_of(self.course, self.topic, self.student):
                put_back(self.root, student, self.topic.folder, chosen, self.classroom.submitted(student))
        return chosen

    def _points(self, one: Attempt) -> str:
        """Return an attempt's points: from the gradebook if it was graded last, or the points noted for it earlier."""
        with quiet():
            try:
                task = make_task(self.classroom, self.student, one.place)
            except Exception:  # noqa: BLE001 - nbgrader's steps may raise anything, and grading reports it
                return ""
        name, database = self.topic.folder, self.classroom.coursedir().db_url
        graded = LastGrading(self.classroom, self.student).is_of(task)
        if graded and (scores := read_scores(database, name, self.student, name)):
            return f"{scores.score:g} / {scores.points:g}"
        noted = noted_points(self.root, self.student, name)  # earlier versions noted an attempt's digest
        return next((points for known, points in noted.items() if known == one.digest or task.is_of(known)), "")


def list_attempts(course: Course, topic: Topic, student: str) -> int:
    """Print a student's attempts at a topic, and the command that makes an earlier attempt count."""
    found = Attempts(course, topic, student)
    print(f"{student}, {topic.folder}: {counted(len(found.all), 'attempt')}")
    print("\n".join(f"  {line}" for line in found.lines()))
    if len(found.all) > 1:
        print(f"To grade another one in its place, run `course attempts {student} {topic.folder} --grade NUMBER`")
    return 0


def grade_attempt(course: Course, topic: Topic, student: str, number: int) -> int:
    """Make an attempt count, grade it as `course grade` does, and print all attempts with their points."""
    from course.grading.classroom.grade_command import grade_topic

    chosen, students = Attempts(course, topic, student).choose(number), group_of(course, topic, student)
    if not chosen.counts:
        place, whose = _shown(chosen.place, course.root), ", ".join(students)
        print(f"{topic.folder}: {place} counts for {whose} now. What counted before is kept")
    status = grade_topic(course, topic, students=students)
    print()
    list_attempts(course, topic, student)
    return status


def _when(one: Attempt, topic: Topic, zone: tzinfo | None) -> str:
    """Return an attempt's arrival time in the class's time zone, or without one in that of the due date."""
    if one.came is None:
        return "without a time"
    zone = zone or (topic.due.tzinfo if topic.due else UTC)
    return f"{one.came.replace(tzinfo=UTC).astimezone(zone):%Y-%m-%d %H:%M %z}"


def _late(one: Attempt, due: datetime | None, zone: tzinfo | None) -> str:
    if one.came is None or due is None:
        return ""
    late = time_after(due, one.came.replace(tzinfo=UTC), zone)
    if late <= timedelta():
        return "in time"
    if late < timedelta(days=2):
        return f"{hours(int(late.total_seconds() // 60))} late"
    return f"{late.days} days {late.seconds // 3600} h late"


def _shown(place: Path, root: Path) -> str:
    return str(place.relative_to(root)) if place.is_relative_to(root) else str(place)
