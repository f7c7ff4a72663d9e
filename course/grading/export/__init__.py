"""Export grades and feedback for other platforms: `course export csv|canvas|moodle TOPIC...`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.course import Course
from course.files import whole
from course.syllabus import Topic

if TYPE_CHECKING:
    from course.grading.gradebook.grades import Grades

TABLES = ("csv", "canvas", "moodle")


def current_grades(course: Course, topics: Sequence[Topic]) -> tuple[Grades, list[str], Any]:
    """Return the grades of a class as they are given away, notes for the instructor, and nbgrader's configuration.

    First, a group's members get the points that one of them was given by hand, and late penalties are computed again.

    Raises:
        Problem: a topic is not graded.
    """
    from course.grading.classroom.classroom import Classroom
    from course.grading.classroom.groups import share_points
    from course.grading.gradebook.grades import read_grades
    from course.grading.nbgrader_bridge.config_file import load_config
    from course.grading.nbgrader_bridge.course_of import hand_on
    from course.grading.nbgrader_bridge.late_penalty import renew_all

    config = load_config(course.root)
    hand_on(config, course)
    grouped = [topic for topic in topics if course.outline.groups_in(topic.folder)]
    shared = [note for topic in grouped for note in share_points(Classroom(course, topic))]
    renewed = [*shared, *renew_all(config, topics)]
    return read_grades(config.CourseDirectory.db_url, topics), renewed, config


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
