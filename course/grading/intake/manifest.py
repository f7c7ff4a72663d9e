"""What the manifest in a zip of `course submit` says: whoever handed in may have written it."""

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
    """What a manifest says: `time` is written as in a zip's name."""

    topic: str
    student: str
    time: str

    @property
    def is_valid(self) -> bool:
        """Whether topic and student are such as `course submit` writes."""
        return bool(re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", self.topic) and re.fullmatch(STUDENT, self.student))


def read_manifest(path: Path) -> Manifest | None:
    """What the manifest at `path` says; None where it cannot be read, or says no time."""
    try:
        about = parse_notebook(path.read_bytes(), MANIFEST)
        time = datetime.fromisoformat(str(about.get("time"))).astimezone(UTC)
    except (Problem, OSError, ValueError, OverflowError):
        return None
    return Manifest(str(about.get("topic")), normalize("NFC", str(about.get("student"))), f"{time:{STAMP}}")
