"""Read and write entries of nbgrader's gradebook that nbgrader's own steps do not cover."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import EllipsisType
from typing import Any

from course.grading.gradebook.students import Person, person_of
from course.outline import Late


@dataclass(frozen=True)
class Scores:
    """A submission's points in the gradebook: `cells` by grade_id, None while undecided.

    `late` is the late penalty to subtract from `score`. `again` are the cells with manual points from before the last
    grading; these points stay, but need a review. `waiting` are the cells with points from the tests that still need a
    person's decision.
    """

    score: float
    points: float
    cells: dict[str, float | None] = field(default_factory=dict)
    maxima: dict[str, float] = field(default_factory=dict)
    late: float = 0.0
    again: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassScores:
    """An assignment in the gradebook: its `points`, the students who ever `submitted`, and the scores by student.

    A person grades the cells `by_hand`, because they contain no test.
    """

    points: float
    submitted: frozenset[str]
    scores: dict[str, Scores]
    by_hand: frozenset[str]


class Marks:
    """The grades and comments of a submitted notebook by cell name.

    This replaces the gradebook for `SaveAutoGrades`, which would query and commit for each cell. The caller commits all
    changed rows of the gradebook at once.
    """

    def __init__(self, grades: dict[str, Any], comments: dict[str, Any]) -> None:
        self.grades, self.comments = grades, comments

    @classmethod
    def of(cls, gradebook: Any, notebook: str, assignment: str, student: str) -> Marks:
        """Read all marks of a student's notebook from a gradebook at once.

        Raises:
            MissingEntry: the student has not submitted the notebook.
        """
        return cls.in_rows(gradebook, gradebook.find_submission_notebook(notebook, assignment, student))

    @classmethod
    def in_rows(cls, gradebook: Any, submitted: Any) -> Marks:
        """Read the marks of a gradebook's submitted notebook."""
        from nbgrader.api import Comment, Grade

        grades, comments = (dict(_of_cells(gradebook, kind, submitted)) for kind in (Grade, Comment))
        return cls(grades, comments)

    def find_grade(self, cell: str, notebook: str, assignment: str, student: str) -> Any:
        """Return the grade of a cell.

        Raises:
            MissingEntry: the cell has no grade.
        """
        return _found(cell, self.grades)

    def find_comment(self, cell: str, notebook: str, assignment: str, student: str) -> Any:
        """Return the comment on a cell.

        Raises:
            MissingEntry: the cell has no comment.
        """
        return _found(cell, self.comments)

    @property
    def db(self) -> Marks:
        """Return the object on which nbgrader calls `commit` after each cell."""
        return self

    def commit(self) -> None:
        """Do nothing, because the caller that opened the gradebook commits."""


def _of_cells(gradebook: Any, kind: Any, submitted: Any) -> list[tuple[str, Any]]:
    """Return grades or comments with cell names, task cells first, so that another cell of the same name wins."""
    from nbgrader.api import BaseCell

    query = gradebook.db.query(BaseCell.type, BaseCell.name, kind).join(BaseCell, BaseCell.id == kind.cell_id)
    rows = query.filter(kind.notebook_id == submitted.id).all()
    return [(name, found) for _, name, found in sorted(rows, key=lambda row: row[0] != "TaskCell")]


def _found(name: str, known: dict[str, Any]) -> Any:
    from nbgrader.api import MissingEntry

    if name not in known:
        raise MissingEntry(f"the gradebook has nothing of a cell {name!r}")
    return known[name]


def clear_scores(db_url: str, assignment: str, student: str, notebooks: Iterable[str]) -> None:
    """Clear the automatic scores of a student's notebooks; manual points stay."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        for name in notebooks:
            try:
                submitted = gradebook.find_submission_notebook(name, assignment, student)
            except MissingEntry:
                continue
            for grade in submitted.grades:
                grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()


def reviewed_cells(db_url: str, assignment: str, student: str, notebook: str) -> dict[str, float | None]:
    """Return the cells with manual points that need no review, each with its automatic score."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            grades = Marks.of(gradebook, notebook, assignment, student).grades
        except MissingEntry:
            return {}
        return reviewed(grades)


def reviewed(grades: dict[str, Any]) -> dict[str, float | None]:
    """Return the cells of `grades` with manual points that need no review, each with its automatic score."""
    given = {name: grade for name, grade in grades.items() if grade.manual_score is not None}
    return {name: grade.auto_score for name, grade in given.items() if not grade.needs_manual_grade}


def keep_reviewed(db_url: str, assignment: str, student: str, notebook: str, known: dict[str, float | None]) -> None:
    """Clear the review flag of the cells in `known`, from `reviewed_cells`, whose automatic score has not changed."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        grades = Marks.of(gradebook, notebook, assignment, student).grades
        settle_reviewed(grades, known)
        gradebook.db.commit()


def settle_reviewed(grades: dict[str, Any], known: dict[str, float | None]) -> None:
    """Clear the review flag of manual points in `grades` whose automatic score is the same as in `known`."""
    for name in known.keys() & grades.keys():
        if grades[name].manual_score is not None and grades[name].auto_score == known[name]:
            grades[name].needs_manual_grade = False


def enrol(db_url: str, student: str) -> None:
    """Add a student to the gradebook, so that each student with a submission is in every list, graded or not."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        gradebook.update_or_create_student(student)


def forget_arrival(db_url: str, assignment: str, student: str) -> None:
    """Clear the timestamp of a submission without one, because nbgrader never removes an old timestamp."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            gradebook.find_submission(assignment, student).timestamp = None
        except MissingEntry:
            return
        gradebook.db.commit()


def read_scores(db_url: str, assignment: str, student: str, notebook: str) -> Scores | None:
    """Return the points of a student's notebook, or None if the gradebook has none."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            submitted = gradebook.find_submission_notebook(notebook, assignment, student)
        except MissingEntry:
            return None
        return scores_of(submitted, Marks.in_rows(gradebook, submitted).grades)


def read_class(db_url: str, assignments: Iterable[str]) -> tuple[list[Person], dict[str, ClassScores]]:
    """Return all students of the gradebook, and their scores in those `assignments` that the gradebook has."""
    from nbgrader.api import Gradebook, MissingEntry

    found = {}
    with Gradebook(db_url) as gradebook:
        people = [person_of(student) for student in gradebook.students]
        for name in assignments:
            try:
                released = gradebook.find_notebook(name, name)
            except MissingEntry:
                continue
            works = gradebook.assignment_submissions(name)
            notebooks = {work.student_id: one for work in works for one in work.notebooks if one.name == name}
            scores = {
                student: scores_of(one, Marks.in_rows(gradebook, one).grades) for student, one in notebooks.items()
            }
            by_hand = frozenset(cell.name for cell in (*released.solution_cells, *released.task_cells))
            submitted = frozenset(work.student_id for work in works)
            found[name] = ClassScores(float(released.max_score), submitted, scores, by_hand)
    return people, found


def read_comments(db_url: str, assignment: str, student: str, notebook: str) -> dict[str, str]:
    """Return the manual comments on a student's notebook by cell name."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            comments = Marks.of(gradebook, notebook, assignment, student).comments
        except MissingEntry:
            return {}
        return {name: comment.manual_comment for name, comment in comments.items() if comment.manual_comment}


def class_comments(db_url: str, assignment: str) -> dict[str, dict[str, str]]:
    """Return the manual comments on all students' notebooks of an assignment, by student and cell name."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        works = gradebook.assignment_submissions(assignment)
        notebooks = {work.student_id: one for work in works for one in work.notebooks if one.name == assignment}
        comments = {student: Marks.in_rows(gradebook, one).comments for student, one in notebooks.items()}
        return {
            student: {name: one.manual_comment for name, one in theirs.items() if one.manual_comment}
            for student, theirs in comments.items()
        }


def scores_of(submitted: Any, grades: dict[str, Any]) -> Scores:
    """Return the points of a gradebook's submitted notebook from its `grades`."""
    undecided = {name for name, grade in grades.items() if grade.auto_score is None and grade.manual_score is None}
    again = sorted(name for name, one in grades.items() if one.manual_score is not None and one.needs_manual_grade)
    waiting = sorted(name for name, one in grades.items() if waits(one))
    return Scores(
        submitted.score,
        submitted.max_score,
        {name: None if name in undecided else grade.score for name, grade in grades.items()},
        {name: grade.max_score for name, grade in grades.items()},
        submitted.late_submission_penalty or 0.0,
        tuple(again),
        tuple(waiting),
    )


def waits(grade: Any) -> bool:
    """Whether a person still has to decide about an answer that already has a score from the tests, perhaps 0."""
    return bool(grade.needs_manual_grade and grade.manual_score is None and grade.auto_score is not None)


def due_of(db_url: str, assignment: str, student: str | None = None) -> datetime | None:
    """Return an assignment's due date in the gradebook, if any; for a `student`, with the extension there."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        due: datetime | None = gradebook.find_assignment(assignment).duedate
        if due and student:
            with suppress(MissingEntry):
                due = gradebook.find_submission(assignment, student).duedate
        return due.replace(tzinfo=UTC) if due else None


def arrival(
    db_url: str, assignment: str, student: str, stamped: datetime | EllipsisType | None = ..., *, rule: Late | None
) -> str:
    """Return what decides a late penalty, as text: arrival time (`stamped`, or the gradebook's), due date, and rule."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url) as gradebook:
        try:
            submitted = gradebook.find_submission(assignment, student)
        except MissingEntry:
            return ""
        return arrived(submitted.timestamp if stamped is ... else stamped, submitted.assignment.duedate, rule)


def arrived(came: datetime | None, due: datetime | None, rule: Late | None) -> str:
    """Return the text of `arrival` for an arrival time and a due date, both in UTC and without a zone."""
    return f"{came}, due {due}, {rule}"


def others(db_url: str, assignment: str, submitted: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the gradebook's students not in `submitted`: those without any work, and those with earlier work."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        known = {student.id for student in gradebook.students} - set(submitted)
        before = {work.student_id for work in gradebook.assignment_submissions(assignment)}
    return tuple(sorted(known - before)), tuple(sorted(known & before))


class TopicBook:
    """The rows of one topic in an open gradebook, nbgrader's own `Gradebook`.

    Args:
        penalty: returns the late penalty of a submitted notebook; None if the course has no rule.
    """

    def __init__(self, gradebook: Any, topic: str, penalty: Callable[[Any], float | None] | None) -> None:
        self.gradebook, self.topic, self.penalty = gradebook, topic, penalty

    def write(
        self, student: str, marks: Marks, came: datetime | None, fits: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Scores:
        """Write the automatic marks of a submission; manual points stay, and may be flagged for review.

        Args:
            fits: selects the reviewed manual points whose answers have not changed in this work.

        Raises:
            MissingEntry: the gradebook lacks one of the cells.
        """
        self.gradebook.update_or_create_student(student)
        work = self.gradebook.update_or_create_submission(self.topic, student, timestamp=came)
        (submitted,) = (notebook for notebook in work.notebooks if notebook.name == self.topic)
        rows = Marks.in_rows(self.gradebook, submitted)
        seen = fits(reviewed(rows.grades))
        for name, mark in marks.grades.items():
            row = rows.find_grade(name, self.topic, self.topic, student)
            row.auto_score = mark.auto_score
            row.needs_manual_grade = mark.needs_manual_grade or row.manual_score is not None
        for name, comment in marks.comments.items():
            if comment.auto_comment is not ...:
                rows.find_comment(name, self.topic, self.topic, student).auto_comment = comment.auto_comment
        settle_reviewed(rows.grades, seen)
        self.gradebook.db.commit()
        if self.penalty is not None:
            submitted.late_submission_penalty = self.penalty(submitted)
            self.gradebook.db.commit()
        return scores_of(submitted, rows.grades)
