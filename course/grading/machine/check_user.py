"""Check the user's home folder for `course doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from course.grading.machine.finding import Finding


def has_home() -> bool:
    """Whether `HOME` or the system's list of users names a home folder, without which Jupyter does not start."""
    try:
        return bool(Path("~").expanduser())
    except RuntimeError:
        return False


def home() -> Iterator[Finding]:
    """Check that there is a home folder; yield nothing if there is."""
    if not has_home():
        said = "HOME is not set, and the system does not know this user, so JupyterLab cannot start"
        yield Finding("wrong", "home", said, "Set HOME to a folder of your own")
