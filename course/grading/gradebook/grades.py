"""Read the grades of a class from nbgrader's gradebook, for exports to other platforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from course.grading.gradebook.scores import ClassScores, read_class
from course.grading.gradebook.students import Person, some
from course.problem import Problem
from course.syllabus import Topic


@dataclass(frozen=True)
class Grade:
    """A student's points for a topic after the late penalty; `waiting` counts the answers still to be graded by hand.

    `resting` counts those that depend on an earlier mistake, which keep the tests' points until then. `late` are the
    points that the penalty took.
    """

    score: float
    waiting: int = 0
    resting: int = 0
    late: float = 0.0


@dataclass(frozen=True)
class StudentGrades:
    """A student of the gradebook, with a grade for each graded topic.

    `platform_number` is the student's id on the platform of the class list, nbgrader's `lms_user_id`.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    grades: dict[str, Grade] = field(default_factory=dict)
    platform_number: str = ""

    @classmethod
    def of(cls, person: Person, grades: dict[str, Grade]) -> StudentGrades:
        """Return a person of the gradebook with their `grades`."""
        about = {name: person.about.get(name, "") for name in ("first_name", "last_name", "email")}
        return cls(person.id, **about, grades=grades, platform_number=person.about.get("lms_user_id", ""))

    @property
    def sortable_name(self) -> str:
        """Return `Last, First`, or the id of a student without a name."""
        return ", ".join(filter(None, (self.last_name, self.first_name))) or self.id

    @property
    def full_name(self) -> str:
        """Return `First Last`, or the id of a student without a name."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.id

    def scores(self, topics: Sequence[str], missing: str = "") -> list[str]:
        """Return table cells: the points for each topic, or `missing` if there is no grade."""
        return [f"{self.grades[name].score:.6g}" if name in self.grades else missing for name in topics]


@dataclass(frozen=True)
class Grades:
    """A class's grades for `topics`: the maximum `points` by topic, and the `excused` students by topic."""

    topics: tuple[Topic, ...]
    points: dict[str, float]
    pupils: tuple[StudentGrades, ...]
    excused: dict[str, set[str]] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """Return notes for the person who exports the grades: submissions that still wait for manual grading."""
        lines = []
        for topic in (topic.folder for topic in self.topics):
            waiting = self.ungraded(topic)
            resting = [pupil.id for pupil in self.pupils if topic in pupil.grades and pupil.grades[topic].resting]
            if waiting:
                lines.append(
                    f"{topic}: {submissions(waiting)} with answers that you have not graded yet, "
                    "which count as 0 points"
                )
            if resting:
                what = "answers that rest on an earlier mistake and wait for you"
                lines.append(f"{topic}: {submissions(resting)} with {what}, which count as the tests graded them")
        return lines

    def ungraded(self, topic: str) -> list[str]:
        """Return the students with answers that a person still has to grade."""
        return [pupil.id for pupil in self.pupils if topic in pupil.grades and pupil.grades[topic].waiting]

    def is_excused(self, student: str, topic: str) -> bool:
        """Return whether `course.toml` excuses a student from a topic."""
        return student in self.excused.get(topic, ())

    def gaps(self, platform: str, missing: str = "an empty cell", *, excuses: bool = False) -> list[str]:
        """Return a warning for each topic without some students' grades, because an import deletes such grades.

        Args:
            missing: what the table has in place of a grade.
            excuses: whether the table says who is excused, and has no empty cell for them.
        """
        pupils = [pupil for pupil in self.pupils if pupil.grades]
        without = {
            topic: [
                pupil.id
                for pupil in pupils
                if topic not in pupil.grades and not (excuses and self.is_excused(pupil.id, topic))
            ]
            for topic in (topic.folder for topic in self.topics)
        }
        return [
            f"{topic}: {some(names)} {'have' if len(names) != 1 else 'has'} no grade, and importing {missing} "
            f"deletes the grade that {platform} has. To keep it, export one topic at a time"
            for topic, names in without.items()
            if names
        ]


def as_text(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula; not for ids and emails, which platforms compare."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def read_grades(db_url: str, topics: Sequence[Topic]) -> Grades:
    """Return the grades of all students in the gradebook; a student who was not graded has no grade instead of 0.

    Raises:
        Problem: a topic is not in the gradebook, or no student is graded for it.
    """
    names = [topic.folder for topic in topics]
    people, known = read_class(db_url, names)
    grades = {name: grades_of(scores) for name, scores in known.items()}
    for name in names:
        if not grades.get(name):
            raise Problem(f"nothing of {name} is graded yet. Run `course grade {name}` first")
    pupils = [
        StudentGrades.of(person, {name: grades[name][person.id] for name in names if person.id in grades[name]})
        for person in sorted(people, key=lambda person: person.id)
    ]
    return Grades(tuple(topics), {name: known[name].points for name in names}, tuple(pupils))


def submissions(students: Sequence[str], what: str = "submission") -> str:
    """Return the number of submissions, or `what` else belongs to each of `students`, in words with the first names."""
    return f"{len(students)} {what}{'s' * (len(students) != 1)} ({some(students)})"


def grades_of(of_class: ClassScores) -> dict[str, Grade]:
    """Return nbgrader's grades of those students whose automatically graded cells are all decided."""
    grades = {}
    for student, scores in of_class.scores.items():
        undecided = {name for name, score in scores.cells.items() if score is None}
        if undecided <= of_class.by_hand and len(undecided) < len(scores.cells):
            score = max(0.0, scores.score - scores.late)
            grades[student] = Grade(score, len(undecided), len(scores.waiting), scores.score - score)
    return grades
