"""What late work loses, as nbgrader's plugin: by the policy in the instructor's `course.toml`."""

from __future__ import annotations

from nbgrader.plugins import BasePlugin

from course.outline import Late
from course.syllabus import OUTLINE


class LatePolicy(BasePlugin):
    """nbgrader asks for the penalty of each late notebook, and takes it from its score."""

    @property
    def late(self) -> Late:
        """The policy of this course."""
        return OUTLINE.late if OUTLINE is not None else Late()

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that `score` loses; nbgrader has counted the seconds from the due date of the gradebook."""
        return self.late.penalty(score, total_seconds_late) or None
