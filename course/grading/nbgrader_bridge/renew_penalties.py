"""Compute late penalties again before grades are exported, because graders give points after autograding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.grading.nbgrader_bridge.log_capture import quiet
from course.syllabus import Topic

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

    from course.grading.nbgrader_bridge.late_penalty import KeepLatePenalties

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
