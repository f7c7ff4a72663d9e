"""`course grade`: a class's submissions of a topic, or one notebook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.syllabus import Topic


def grade_one(path: Path, policy: str) -> int:
    """Grade one notebook, print what the judge says, and return the exit status."""
    from course.grading.alone import grade_notebook

    marked = grade_notebook(path, policy)
    print(marked.text())
    return int(any(verdict.kind == "not-graded" for verdict in marked.verdicts))


def grade_topic(
    root: Path,
    topic: Topic,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    settings: dict[str, Any] | None = None,
) -> int:
    """Grade a class, print its summary, and return the exit status: 1 when anything was not graded.

    Raises:
        Problem: `settings` require a sandbox, and there is none on this machine.
    """
    from course.grading import summary
    from course.grading.classroom import Classroom, grade_class
    from course.grading.progress import on_terminal
    from course.grading.sandbox.tier import required

    if scheduler is None and (settings or {}).get("require_sandbox"):
        required()
    classroom = Classroom(root, topic, settings)
    with on_terminal(topic.folder) as progress:
        graded = grade_class(
            classroom, students=students, workers=workers, scheduler=scheduler, force=force, progress=progress
        )
    summary.show(topic, graded)
    return int(not all(work.complete for work in graded))
