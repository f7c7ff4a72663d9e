"""Export grades and feedback for other platforms: `course export csv|canvas|moodle TOPIC...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from course.course import Course
from course.files import whole
from course.syllabus import Topic

TABLES = ("csv", "canvas", "moodle")


def export_grades(
    course: Course, platform: str, topics: Sequence[Topic], to: Path | None = None, into: Path | None = None
) -> tuple[Path, list[str]]:
    """Write the grades of a class as one of `TABLES`, and return the file's path and notes for the instructor.

    Args:
        to: the file to write, by default `exports/<platform>.csv`.
        into: a file downloaded from the platform, whose students (and assignments) are filled in.

    Raises:
        Problem: a topic is not graded, `into` is not the platform's file, or the file cannot be written.
    """
    from course.grading.classroom.current_grades import current_grades
    from course.grading.export.canvas import write_canvas
    from course.grading.export.moodle import write_moodle
    from course.grading.nbgrader_bridge.quoted_csv import write_csv
    from course.problem import Problem

    grades, renewed, config = current_grades(course, topics)
    path = to or course.root / "exports" / f"{platform}.csv"
    try:
        with whole(path) as unfinished:
            if platform == "csv":
                write_csv(config, topics, unfinished)
                return path, [*renewed, *grades.notes()]
            write = write_canvas if platform == "canvas" else write_moodle
            return path, [*renewed, *write(grades, unfinished, into)]
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
