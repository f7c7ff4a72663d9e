"""What late work loses, as nbgrader's plugin: by the policy in the instructor's `course.toml`."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties

from course.grading.nbgrader_bridge.extensions import give_extension
from course.outline import Late
from course.syllabus import OUTLINE


class LatePolicy(BasePlugin):
    """nbgrader asks for the penalty of each late notebook, and takes it from its score."""

    @property
    def late(self) -> Late:
        """The policy of this course."""
        return OUTLINE.late if OUTLINE is not None else Late()

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points that `score` loses when it came so many seconds after the due date of the gradebook."""
        return self.late.penalty(score, total_seconds_late) or None


class KeepLatePenalties(AssignLatePenalties):
    """nbgrader's `AssignLatePenalties`, but without a rule for penalties those given by hand stay."""

    def has_rule(self) -> bool:
        """Whether `c.AssignLatePenalties.plugin_class`, the plugin's method or `course.toml` names a rule."""
        self.init_plugin()
        rule = self.plugin_inst
        if isinstance(rule, LatePolicy):
            return bool(rule.late.percent_per_day)
        return type(rule) is not LateSubmissionPlugin or rule.penalty_method != "none"

    def penalty(self, notebook: Any) -> float | None:
        """The points that a submitted notebook of the gradebook loses by the rule; None where it is in time.

        The extension that `course.toml` gives is in the gradebook from then on.
        """
        submission = notebook.assignment
        give_extension(submission)
        if submission.assignment.duedate is None or submission.timestamp is None:
            return None
        due, came = (time.replace(tzinfo=UTC) for time in (submission.assignment.duedate, submission.timestamp))
        rule = OUTLINE.late if OUTLINE is not None else Late()
        late = rule.seconds(due, came) - (submission.extension or timedelta()).total_seconds()
        if late <= 0:
            return None
        lost = self.plugin_inst.late_submission_penalty(notebook.student.id, notebook.score, late)
        return None if lost is None else self._check_late_penalty(notebook, lost)

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Save what the notebook loses by the rule, if there is one."""
        if self.has_rule():
            about = resources["nbgrader"]
            with Gradebook(about["db_url"]) as gradebook:
                submitted = gradebook.find_submission_notebook(about["notebook"], about["assignment"], about["student"])
                submitted.late_submission_penalty = self.penalty(submitted)
                gradebook.db.commit()
        return nb, resources
