"""Read the manifest in a zip of `course submit`, which the student may have forged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

from course.grading.intake.submit import MANIFEST, STAMP, STUDENT
from course.grading.intake.untrusted import parse_notebook
from course.grading.problem import Problem


@dataclass(frozen=True)
class Manifest:
    """The contents of a manifest: `time` is written as in a zip's name."""

    topic: str
    student: str
    time: str

    @property
    def is_valid(self) -> bool:
        """Whether topic and student have the form that `course submit` writes."""
        return bool(re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", self.topic) and re.fullmatch(STUDENT, self.student))


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest at `path`, or None if it is unreadable or has no time."""
    try:
        about = parse_notebook(path.read_bytes(), MANIFEST)
        time = datetime.fromisoformat(str(about.get("time"))).astimezone(UTC)
    except (Problem, OSError, ValueError, OverflowError):
        return None
    return Manifest(str(about.get("topic")), normalize("NFC", str(about.get("student"))), f"{time:{STAMP}}")
