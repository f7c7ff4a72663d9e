"""Compute late penalties by the policy in the instructor's `course.toml`, as a plugin for nbgrader."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties

from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.nbgrader_bridge.extensions import give_extension
from course.outline import Late


class LatePolicy(BasePlugin):
    """A plugin that nbgrader asks for the penalty of each late notebook."""

    @property
    def late(self) -> Late:
        """Return the late policy of this course."""
        return course_of(self).outline.late

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Return the points that `score` loses for being `total_seconds_late`, or None for no penalty."""
        return self.late.penalty(score, total_seconds_late) or None


class KeepLatePenalties(AssignLatePenalties):
    """nbgrader's `AssignLatePenalties`, except that without a penalty rule, manual penalties stay."""

    def has_rule(self) -> bool:
        """Return whether `c.AssignLatePenalties.plugin_class`, the plugin's method or `course.toml` sets a rule."""
        self.init_plugin()
        rule = self.plugin_inst
        if isinstance(rule, LatePolicy):
            return bool(rule.late.percent_per_day)
        return type(rule) is not LateSubmissionPlugin or rule.penalty_method != "none"

    def penalty(self, notebook: Any) -> float | None:
        """Return the points that a submitted notebook loses by the rule, or None if it is in time.

        As a side effect, the extension that `course.toml` gives is written into the gradebook.
        """
        submission, course = notebook.assignment, course_of(self)
        give_extension(course, submission)
        if submission.assignment.duedate is None or submission.timestamp is None:
            return None
        due, came = (time.replace(tzinfo=UTC) for time in (submission.assignment.duedate, submission.timestamp))
        late = course.outline.late.seconds(due, came) - (submission.extension or timedelta()).total_seconds()
        if late <= 0:
            return None
        lost = self.plugin_inst.late_submission_penalty(notebook.student.id, notebook.score, late)
        return None if lost is None else self._check_late_penalty(notebook, lost)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Save the penalty of the notebook by the rule, if one is set."""
        if self.has_rule():
            about = resources["nbgrader"]
            with Gradebook(about["db_url"]) as gradebook:
                submitted = gradebook.find_submission_notebook(about["notebook"], about["assignment"], about["student"])
                submitted.late_submission_penalty = self.penalty(submitted)
                gradebook.db.commit()
        return nb, resources
