"""Late penalties counted anew before grades are passed on: a person gives some of the points after grading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.grading.nbgrader_bridge.log_capture import quiet
from course.syllabus import Topic

NOTHING = 1e-9
"""So many points are no difference between two penalties."""


def renew_penalties(config: Any, gradebook: Any, assignment: str) -> list[str]:
    """Count anew, as `course grade` does, what late work of an assignment loses, and save it.

    Args:
        config: the course's configuration, which names the rule; without one, penalties stay as they are.
        gradebook: nbgrader's, open.

    Returns:
        The students whose penalty is another now.
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
    for notebook, penalty in counted:  # nothing is written before all is counted, so the gradebook is locked briefly
        if abs((penalty or 0.0) - (notebook.late_submission_penalty or 0.0)) > NOTHING:
            changed.add(notebook.student.id)
            notebook.late_submission_penalty = penalty
    gradebook.db.commit()
    return sorted(changed)


def renew_all(config: Any, topics: Sequence[Topic]) -> list[str]:
    """Count the late penalties of these topics anew, and say whose are others now."""
    from nbgrader.api import Gradebook

    with quiet(), Gradebook(config.CourseDirectory.db_url) as gradebook:
        changed = {topic.folder: renew_penalties(config, gradebook, topic.folder) for topic in topics}
    return [f"{name}: late penalties were recomputed for {', '.join(ids)}" for name, ids in changed.items() if ids]
