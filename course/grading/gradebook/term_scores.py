"""Every student's points in several assignments, read from the gradebook that is opened once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from course.grading.gradebook.scores import Marks, Scores, scores_of


@dataclass(frozen=True)
class AssignmentScores:
    """What the gradebook has of an assignment: who has `submitted` once, and the points by student."""

    submitted: frozenset[str] = frozenset()
    scores: dict[str, Scores] = field(default_factory=dict)


def read_term(db_url: str, assignments: Iterable[str]) -> tuple[frozenset[str], dict[str, AssignmentScores]]:
    """The students of the gradebook, and what it has of those `assignments` that it knows."""
    from nbgrader.api import Gradebook, MissingEntry

    found = {}
    with Gradebook(db_url) as gradebook:
        students = frozenset(student.id for student in gradebook.students)
        for name in assignments:
            try:
                gradebook.find_notebook(name, name)
            except MissingEntry:
                continue
            works = gradebook.assignment_submissions(name)
            notebooks = {work.student_id: one for work in works for one in work.notebooks if one.name == name}
            scores = {
                student: scores_of(one, Marks.in_rows(gradebook, one).grades) for student, one in notebooks.items()
            }
            found[name] = AssignmentScores(frozenset(work.student_id for work in works), scores)
    return students, found
