"""Read the texts that a class was given: cells of the source and of the release that hold no answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory

from course.grading.intake.misplaced_answers import given_sources


def texts_given_out(config: Any, assignment: str, notebook: str) -> frozenset[str]:
    """Return the cell texts of a notebook's source and of its release, which is fitted to the class's topics."""
    coursedir = CourseDirectory(config=config)
    steps = coursedir.source_directory, coursedir.release_directory
    folders = (Path(coursedir.format_path(step, ".", assignment)) for step in steps)
    paths = (folder / f"{notebook}.ipynb" for folder in folders)
    return frozenset().union(*(given_sources(path, path.stat().st_mtime_ns) for path in paths if path.is_file()))
