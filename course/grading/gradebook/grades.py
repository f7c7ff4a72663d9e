"""The grades of a class as they stand in nbgrader's gradebook, ready to be written for somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from course.grading.gradebook.scores import waits
from course.grading.gradebook.students import some
from course.grading.problem import Problem
from course.syllabus import Topic


@dataclass(frozen=True)
class Grade:
    """A student's points for a topic, late penalty taken off; `waiting` answers are still to be graded by hand.

    So are `resting` answers, which rest on an earlier mistake. They count what the tests give until then.
    """

    score: float
    waiting: int = 0
    resting: int = 0


@dataclass(frozen=True)
class StudentGrades:
    """Somebody of the gradebook, with a grade for each topic that was graded.

    `platform_number` is by what the platform of the class list knows the student, as nbgrader's `lms_user_id`.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    grades: dict[str, Grade] = field(default_factory=dict)
    platform_number: str = ""

    @property
    def sortable_name(self) -> str:
        """`Last, First`, or the id of somebody without a name."""
        return ", ".join(filter(None, (self.last_name, self.first_name))) or self.id

    @property
    def full_name(self) -> str:
        """`First Last`, or the id of somebody without a name."""
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.id

    def scores(self, topics: Sequence[str], missing: str = "") -> list[str]:
        """The cells of a table: the points for each topic, `missing` where there is no grade."""
        return [f"{self.grades[name].score:.6g}" if name in self.grades else missing for name in topics]


@dataclass(frozen=True)
class Grades:
    """A class's grades for `topics`; `points` are those to be had, by topic."""

    topics: tuple[Topic, ...]
    points: dict[str, float]
    pupils: tuple[StudentGrades, ...]

    def notes(self) -> list[str]:
        """What whoever passes the grades on should know: work that still waits for a person."""
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
        """The students with answers that a person has still to grade."""
        return [pupil.id for pupil in self.pupils if topic in pupil.grades and pupil.grades[topic].waiting]

    def gaps(self, platform: str, missing: str = "an empty cell") -> list[str]:
        """Say where the table of several topics has no grade, and what a platform's import makes of such a cell."""
        pupils = [pupil for pupil in self.pupils if pupil.grades]
        without = {
            topic.folder: [pupil.id for pupil in pupils if topic.folder not in pupil.grades] for topic in self.topics
        }
        return [
            f"{topic}: {some(names)} {'have' if len(names) != 1 else 'has'} no grade, and importing {missing} "
            f"deletes the grade that {platform} has. To keep it, export one topic at a time"
            for topic, names in without.items()
            if names
        ]


def as_text(name: str) -> str:
    """A name as no spreadsheet takes it for a formula; ids and emails stay as they are, for platforms compare them."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@")) else name


def read_grades(db_url: str, topics: Sequence[Topic]) -> Grades:
    """The grades of everybody in the gradebook; who was not graded for a topic has none there, and not a zero.

    Raises:
        Problem: a topic is not in the gradebook, or nobody is graded for it.
    """
    from nbgrader.api import Gradebook, MissingEntry

    points: dict[str, float] = {}
    with Gradebook(db_url) as gradebook:
        students = {student.id: student for student in gradebook.students}
        found: dict[str, dict[str, Grade]] = {student: {} for student in students}
        for topic in topics:
            try:
                assignment = gradebook.find_assignment(topic.folder)
            except MissingEntry:
                raise Problem(
                    f"nothing of {topic.folder} is graded yet. Run `course grade {topic.folder}` first"
                ) from None
            points[topic.folder] = float(assignment.max_score)
            for submission in assignment.submissions:
                grade = _grade(submission)
                if grade is not None:
                    found[submission.student.id][topic.folder] = grade
            if not any(topic.folder in grades for grades in found.values()):
                raise Problem(f"nothing of {topic.folder} is graded yet. Run `course grade {topic.folder}` first")
        pupils = [
            StudentGrades(
                name,
                one.first_name or "",
                one.last_name or "",
                one.email or "",
                found[name],
                one.lms_user_id or "",
            )
            for name, one in sorted(students.items())
        ]
    return Grades(tuple(topics), points, tuple(pupils))


def submissions(students: Sequence[str]) -> str:
    """The number of these students' submissions in words, and the first students."""
    return f"{len(students)} submission{'s' * (len(students) != 1)} ({some(students)})"


def _grade(submission: object) -> Grade | None:
    """The grade of a submission in nbgrader's own reckoning, or None while the machine has not decided its part."""
    decided = waiting = resting = 0
    for notebook in submission.notebooks:  # type: ignore[attr-defined]
        by_hand = {cell.name for cell in (*notebook.notebook.solution_cells, *notebook.notebook.task_cells)}
        undecided = {one.name for one in notebook.grades if one.auto_score is None and one.manual_score is None}
        if undecided - by_hand:
            return None
        waiting += len(undecided)
        resting += sum(map(waits, notebook.grades))
        decided += len(notebook.grades) - len(undecided)
    if not decided:
        return None
    penalty = submission.late_submission_penalty or 0.0  # type: ignore[attr-defined]
    return Grade(max(0.0, submission.score - penalty), waiting, resting)  # type: ignore[attr-defined]
