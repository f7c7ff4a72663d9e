"""Grades and graders for other platforms: `course export csv|canvas|moodle|gradescope TOPIC...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from course.notebook.folder import whole
from course.syllabus import Topic

TABLES = ("csv", "canvas", "moodle")


def export_grades(
    root: Path, platform: str, topics: Sequence[Topic], to: Path | None = None, into: Path | None = None
) -> tuple[Path, list[str]]:
    """Write the grades of a class as one of `TABLES`; returns the file and what there is to say about it.

    Args:
        to: the file to write, by default `exports/<platform>.csv`.
        into: a file downloaded from the platform whose students (and assignments) are to be filled in.

    Raises:
        Problem: a topic is not graded, `into` is not what the platform gives out, or nothing can be written.
    """
    from course.grading.export.canvas import write_canvas
    from course.grading.export.grades import read_grades
    from course.grading.export.moodle import write_moodle
    from course.grading.problem import Problem
    from course.grading.release import load_config

    config = load_config(root)
    grades = read_grades(config.CourseDirectory.db_url, topics)
    path = to or root / "exports" / f"{platform}.csv"
    try:
        with whole(path) as unfinished:
            if platform == "csv":
                _write_csv(config, topics, unfinished)
                return path, grades.notes()
            write = write_canvas if platform == "canvas" else write_moodle
            return path, write(grades, unfinished, into)
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error


def _write_csv(config: object, topics: Sequence[Topic], path: Path) -> None:
    """nbgrader's own export."""
    from nbgrader.api import Gradebook

    from course.grading.export.quoted import QuotedCsv

    plugin = QuotedCsv(config=config)
    plugin.to, plugin.assignment = str(path), [topic.folder for topic in topics]
    with Gradebook(config.CourseDirectory.db_url) as gradebook:  # type: ignore[attr-defined]
        plugin.export(gradebook)
