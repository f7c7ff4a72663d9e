"""Write the marks of a class into nbgrader's gradebook, several submissions in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from course.grading.gradebook.scores import Marks, Scores, reviewed, scores_of, settle_reviewed


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
