"""Collect a class's results in all topics so far, for `course report` without a topic."""

from __future__ import annotations

import datetime
import statistics
from dataclasses import dataclass

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.final_grades import due_for
from course.grading.classroom.graded import Graded
from course.grading.classroom.last_grading import LastGrading
from course.grading.gradebook.scores import ClassScores, Scores, read_class
from course.grading.nbgrader_bridge.config_file import load_config
from course.problem import Problem
from course.syllabus import Topic


@dataclass(frozen=True)
class Taught:
    """A topic that has graded work.

    `graded` is the work with points by student, `submitted` are all students with a submission, and `absent` those
    without one although the topic was due for them, excuses and extensions considered.
    """

    topic: Topic
    graded: dict[str, Graded]
    submitted: frozenset[str]
    absent: frozenset[str]

    def shares(self) -> dict[str, float]:
        """Return each student's share of the points that are decided."""
        found = {student: share_of(work.scores) for student, work in self.graded.items()}
        return {student: share for student, share in found.items() if share is not None}

    @property
    def median(self) -> float:
        """Return the median of the students' shares."""
        return statistics.median(self.shares().values() or [0.0])


def share_of(scores: Scores | None, without: str = "") -> float | None:
    """Return the share of the points of all decided cells except `without`; None if nothing is decided."""
    if scores is None:
        return None
    decided = {
        name: score
        for name, score in scores.cells.items()
        if score is not None and name != without and name not in scores.waiting
    }
    most = sum(scores.maxima[name] for name in decided)
    return sum(decided.values()) / most if most else None


def collect_term(course: Course, now: datetime.datetime) -> tuple[Taught, ...]:
    """Collect everything that is graded in a course.

    Raises:
        Problem: nothing is graded.
    """
    database = load_config(course.root).CourseDirectory.db_url
    people, scores = read_class(database, [topic.folder for topic in course.topics])
    students = frozenset(person.id for person in people)
    known = (topic for topic in course.topics if topic.folder in scores)
    found = (_taught(Classroom(course, topic), students, scores[topic.folder], now) for topic in known)
    taught = tuple(one for one in found if one.graded)
    if not taught:
        raise Problem("nothing is graded yet. Run `course grade` with a topic, such as 03_rnn, first")
    return taught


def _taught(classroom: Classroom, students: frozenset[str], recorded: ClassScores, now: datetime.datetime) -> Taught:
    topic, submissions = classroom.topic, classroom.handed_in.submissions()
    last = {student: LastGrading(classroom, student) for student in submissions}
    results = {who: one.result_with(recorded.scores.get(who)) for who, one in last.items() if one.path.is_file()}
    excused = classroom.course.outline.excused_from(topic.folder)
    missing = students - submissions.keys() - recorded.submitted - excused
    return Taught(
        topic,
        {student: work for student, work in results.items() if work.scores is not None},
        frozenset(submissions),
        due_for(classroom.course, topic, missing, now),
    )
