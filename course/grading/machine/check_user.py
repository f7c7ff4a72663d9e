"""Looks at the user's home folder for `course doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.grading.machine.finding import Finding


def has_home() -> bool:
    """Whether this user has a home folder, by `HOME` or by the system's list of users. Jupyter starts with none."""
    try:
        return bool(Path("~").expanduser())
    except RuntimeError:
        return False


def home() -> Iterator[Finding]:
    """Is there a home folder? Nothing is said of one that is there."""
    if not has_home():
        said = "HOME is not set, and the system does not know this user, so JupyterLab cannot start"
        yield Finding("wrong", "home", said, "Set HOME to a folder of your own")
