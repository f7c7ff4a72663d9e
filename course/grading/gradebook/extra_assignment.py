"""Save points in nbgrader's gradebook for something that has no notebook."""

from __future__ import annotations

from collections.abc import Mapping

CELL = "points"
"""The name of the one cell of such an assignment, which holds its points."""


def save_points(db_url: str, assignment: str, most: float, points: Mapping[str, float]) -> None:
    """Save the students' points for an assignment with at most `most` points, in one transaction.

    Exports of nbgrader have them like any other assignment's. Points that a person gave there by hand stay, and other
    students lose the points that were saved before.
    """
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        gradebook.update_or_create_assignment(assignment)
        gradebook.update_or_create_notebook(assignment, assignment)
        gradebook.update_or_create_grade_cell(CELL, assignment, assignment, max_score=most, cell_type="code")
        for student, score in points.items():
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(assignment, student)
            grade = gradebook.find_grade(CELL, assignment, assignment, student)
            grade.auto_score, grade.needs_manual_grade = score, False
        for student in {work.student.id for work in gradebook.assignment_submissions(assignment)} - {*points}:
            if gradebook.find_grade(CELL, assignment, assignment, student).manual_score is None:
                gradebook.remove_submission(assignment, student)
        gradebook.db.commit()
