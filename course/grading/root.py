"""Where on this disk the instructor's course lies."""

from __future__ import annotations

from pathlib import Path

from course.grading.problem import Problem


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` (the working folder) that holds nbgrader_config.py and solutions/.

    Raises:
        Problem: there is none.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "nbgrader_config.py").is_file() and (folder / "solutions").is_dir():
            return folder
    raise Problem(f"{start} is not inside a course: no folder above it holds nbgrader_config.py and solutions/")
