"""Read the grades of a class as they are given away, with late penalties and groups' points renewed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.groups import share_points
from course.grading.gradebook.grades import Grades, read_grades
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.course_of import hand_on
from course.grading.nbgrader_bridge.late_penalty import renew_all
from course.syllabus import Topic


def current_grades(course: Course, topics: Sequence[Topic]) -> tuple[Grades, list[str], Any]:
    """Return the grades of a class, notes for the instructor, and nbgrader's configuration.

    Raises:
        Problem: a topic is not graded.
    """
    config, renewed = renew(course, topics)
    excused = {topic.folder: course.outline.excused_from(topic.folder) for topic in topics}
    return replace(read_grades(config.CourseDirectory.db_url, topics), excused=excused), renewed, config


def renew(course: Course, topics: Sequence[Topic]) -> tuple[Any, list[str]]:
    """Give a group's members the points that one of them got by hand, and compute late penalties again.

    Returns:
        nbgrader's configuration, and notes for the instructor.
    """
    config = load_config(course.root)
    hand_on(config, course)
    grouped = [topic for topic in topics if course.outline.groups_in(topic.folder)]
    shared = [note for topic in grouped for note in share_points(Classroom(course, topic))]
    return config, [*shared, *renew_all(config, topics)]
