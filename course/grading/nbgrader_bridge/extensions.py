"""Copy the extensions of `course.toml` to the submissions in nbgrader's gradebook."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from course.course import Course
from course.files import write_atomically

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
    now = course.outline.extended(topic).get(student)
    if submission.assignment.duedate is None:  # nbgrader counts an extension from the due date
        now = None
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
