"""Hand a course on to nbgrader's programs, steps and plug-ins, in their configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course.course import Course, course_in


def hand_on(config: Any, course: Course) -> None:
    """Put `course` into a configuration, for everything of nbgrader's that is made with it."""
    config.Course.value = course


def course_of(part: Any) -> Course:
    """Return the course of a program, step or plug-in of nbgrader: the one handed on, or that in its course directory.

    Raises:
        Faulty: the `course.toml` there is invalid.
    """
    if "value" not in part.config.Course:
        hand_on(part.config, course_in(_root_of(part)))
    course: Course = part.config.Course.value
    return course


def _root_of(part: Any) -> Path:
    """Return the course directory of `part` or of what it belongs to, which nbgrader sets to the working folder."""
    if coursedir := getattr(part, "coursedir", None):
        return Path(coursedir.root)
    return _root_of(part.parent) if part.parent else Path(part.config.CourseDirectory.get("root") or Path.cwd())
