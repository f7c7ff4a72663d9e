"""Compute the final grades of a class so far, from all topics that are graded, by `[final]` in `course.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.current_grades import renew
from course.grading.gradebook.final_grade import FinalGrade, Part, final_grade, points_after_penalty, points_asked
from course.grading.gradebook.grades import Grade, Grades, StudentGrades, grades_of, submissions
from course.grading.gradebook.scores import ClassScores, read_class
from course.grading.gradebook.students import Person
from course.outline import FINAL, VIVA, Final
from course.problem import Problem
from course.syllabus import Topic

AS_TOPIC = Topic(None, FINAL, "Final grade", "")
"""The final grade, for tables that hold grades of topics."""


@dataclass(frozen=True)
class FinalGrades:
    """The final grades of a class: the `rule`, the weight of each part, the students, and notes on what is missing."""

    rule: Final
    weights: dict[str, Fraction]
    people: tuple[Person, ...]
    grades: dict[str, FinalGrade]
    notes: tuple[str, ...] = ()

    def as_topic(self) -> Grades:
        """Return the final grades as those of a topic with 100 points, for a platform's table."""
        pupils = [StudentGrades.of(person, self._grade(person.id)) for person in self.people]
        return Grades((AS_TOPIC,), {FINAL: 100.0}, tuple(pupils))

    def _grade(self, student: str) -> dict[str, Grade]:
        one = self.grades[student]
        return {} if one.grade is None else {FINAL: Grade(float(one.grade))}


def due_for(course: Course, topic: Topic, students: Iterable[str], now: datetime) -> frozenset[str]:
    """Return the `students` for whom a topic is due by now, extensions considered. One without a date always is."""
    extended = course.outline.extended_due(topic.folder)
    dates = {student: extended.get(student, topic.due) for student in students}
    return frozenset(student for student, due in dates.items() if due is None or due <= now)


def final_grades(course: Course, now: datetime) -> FinalGrades:
    """Return the final grades of all students in the gradebook.

    Raises:
        Problem: `course.toml` has no rule for them, or nothing is graded yet.
    """
    rule = course.outline.final
    if rule is None:
        raise Problem("course.toml does not say how a final grade follows. Write a table [final] into it")
    config, notes = renew(course, course.topics)
    vivas = [f"{topic.folder}{VIVA}" for topic in course.topics if course.outline.viva.get(topic.folder)]
    people, scores = read_class(config.CourseDirectory.db_url, [*(topic.folder for topic in course.topics), *vivas])
    students = {person.id: person for person in sorted(people, key=lambda person: person.id)}
    gathered = [_Graded(course, rule, name, scores[name], students, now) for name in sorted(scores)]
    graded = [one for one in gathered if one.grades]
    if not graded:
        raise Problem("nothing is graded yet. Run `course grade` with a topic, such as 03_rnn, first")
    grades = {student: final_grade(rule, student, [one.part(student) for one in graded]) for student in students}
    weights = {one.name: one.weight for one in graded}
    return FinalGrades(rule, weights, tuple(students.values()), grades, (*notes, *_notes(grades)))


class _Graded:
    """A topic or viva in the gradebook, as far as it makes a final grade."""

    def __init__(
        self, course: Course, rule: Final, name: str, scores: ClassScores, students: Iterable[str], now: datetime
    ) -> None:
        self.name, self.is_extra = name, name in rule.extra_credit
        self._scores = scores
        topic = next(topic for topic in course.topics if name in (topic.folder, topic.folder + VIVA))
        self._due = due_for(course, topic, students, now)
        self.grades = grades_of(scores)
        some_scores = [scores.scores[student] for student in self.grades][:1]
        self._asked = sum((points_asked(one, rule.extra_credit) for one in some_scores), Fraction())
        self.weight = rule.weights.get(name, self._asked)
        self._excused = course.outline.excused_from(name)
        self._handed_in = {
            *scores.submitted,
            *(Classroom(course, topic).handed_in.submissions() if name == topic.folder else ()),
        }

    def part(self, student: str) -> Part:
        """Return what it is to a student's final grade."""
        if student in self._excused:
            return Part(self.name, self.weight, "excused")
        if student in self.grades:
            share = points_after_penalty(self._scores.scores[student]) / self._asked if self._asked else Fraction()
            waits = bool(self.grades[student].waiting)
            return Part(self.name, self.weight, "extra" if self.is_extra else "counts", share, waits)
        if student in self._handed_in:
            return Part(self.name, self.weight, "ungraded")
        is_missing = not self.is_extra and student in self._due
        return Part(self.name, self.weight, "missing" if is_missing else "open")


def _notes(grades: Mapping[str, FinalGrade]) -> Iterator[str]:
    """Yield notes on students whose final grade will change: something of theirs is not graded."""
    waiting = [student for student, one in grades.items() if one.waits]
    if waiting:
        yield (
            f"final grade: {submissions(waiting, 'student')} with answers that you have not graded yet, which count as "
            "0 points"
        )
    without = [student for student, one in grades.items() if any(part.state == "ungraded" for part in one.parts)]
    if without:
        yield f"final grade: {submissions(without, 'student')} with work that is not graded, which does not count yet"
