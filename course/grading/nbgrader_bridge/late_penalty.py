"""Compute late penalties by the policy in `course.toml`, as a plugin for nbgrader, and again before an export."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.plugins import BasePlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties

from course.clock import Extension, time_after
from course.course import Course
from course.files import write_atomically
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.nbgrader_bridge.log_capture import quiet
from course.outline import Late
from course.syllabus import Topic

GIVEN = Path(".course", "extensions.json")
"""The seconds that `course.toml` gave, by topic and student. Only these are taken back when their line is deleted."""


def give_extension(course: Course, submission: Any) -> None:
    """Set a gradebook submission's extension to that of `course.toml`, or remove one that `course.toml` set before.

    An extension that somebody granted in nbgrader stays if `course.toml` does not name the student.
    """
    if course.is_original:
        return
    topic, student = submission.assignment.name, submission.student.id
    kept = _read(course.root / GIVEN)
    before = kept.get(topic, {}).get(student)
    given = course.outline.extended(topic).get(student)
    now = None
    if given and (due := submission.assignment.duedate):  # nbgrader adds an extension to the due date
        due = due.replace(tzinfo=UTC)
        now = given.after(due, course.outline.zone) - due
    if now is not None:
        submission.extension = now
    elif before is not None and submission.extension == timedelta(seconds=before):
        submission.extension = None
    if (now.total_seconds() if now else None) != before:
        kept.setdefault(topic, {}).pop(student, None)
        if now is not None:
            kept[topic][student] = now.total_seconds()
        write_atomically(course.root / GIVEN, json.dumps(kept, indent=1, ensure_ascii=False).encode())


def _read(path: Path) -> dict[str, dict[str, float]]:
    try:
        return {topic: dict(given) for topic, given in json.loads(path.read_text("utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


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
        given = course.outline.extended(submission.assignment.name).get(notebook.student.id)
        longer, zone = given or Extension.of(submission.extension or timedelta()), course.outline.zone
        late = time_after(longer.after(due, zone), came, zone).total_seconds()
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


NOTHING = 1e-9
"""Two penalties that differ by at most so many points are equal."""


def renew_penalties(config: Any, gradebook: Any, assignment: str) -> list[str]:
    """Compute and save the late penalties of an assignment again, as `course grade` does.

    Args:
        config: the course's configuration, which names the rule; without a rule, penalties stay as they are.
        gradebook: nbgrader's, open.

    Returns:
        The students whose penalty changed.
    """
    from nbgrader.api import MissingEntry

    step = KeepLatePenalties(config=config)
    if not step.has_rule():
        return []
    try:
        submissions = gradebook.find_assignment(assignment).submissions
    except MissingEntry:
        return []
    counted = [(notebook, step.penalty(notebook)) for submission in submissions for notebook in submission.notebooks]
    changed = set()
    for notebook, penalty in counted:  # written only after all are computed, so the gradebook is locked briefly
        if abs((penalty or 0.0) - (notebook.late_submission_penalty or 0.0)) > NOTHING:
            changed.add(notebook.student.id)
            notebook.late_submission_penalty = penalty
    gradebook.db.commit()
    return sorted(changed)


def renew_all(config: Any, topics: Sequence[Topic]) -> list[str]:
    """Compute the late penalties of these topics again, and return a line for each topic with changes."""
    from nbgrader.api import Gradebook

    with quiet(), Gradebook(config.CourseDirectory.db_url) as gradebook:
        changed = {topic.folder: renew_penalties(config, gradebook, topic.folder) for topic in topics}
    return [f"{name}: late penalties were recomputed for {', '.join(ids)}" for name, ids in changed.items() if ids]
