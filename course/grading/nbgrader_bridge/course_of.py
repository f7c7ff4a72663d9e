"""Hand a course on to nbgrader's programs, steps and plug-ins, in their configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course.course import Course, course_in


def hand_on(config: Any, course: Course) -> None:
    """Put `course` into a configuration, for everything of nbgrader's that is made with it."""
    config.Course.value = course


def course_of(config: Any) -> Course:
    """Return the course of a configuration, or else of its course directory, which is by default the working folder.

    Raises:
        Faulty: the `course.toml` there is invalid.
    """
    if "value" not in config.Course:
        hand_on(config, course_in(Path(config.CourseDirectory.get("root") or Path.cwd())))
    course: Course = config.Course.value
    return course
