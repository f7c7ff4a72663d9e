"""Connect to the platform that `course.toml` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from course.course import Course
from course.problem import Problem

if TYPE_CHECKING:
    from course.grading.lms.platform import Platform

PLATFORMS: Mapping[str, str] = {"canvas": "Canvas", "moodle": "Moodle"}
"""The platforms, by their names in commands."""

_EXAMPLE = {
    "canvas": 'address = "https://school.instructure.com" and course = 1234, the number after /courses/',
    "moodle": 'address = "https://moodle.school.edu" and course = 56, the number after course/view.php?id=',
}


def connect(course: Course, platform: str) -> Platform:
    """Return the class of a course on one of `PLATFORMS`, with the token of this person.

    Raises:
        Problem: `course.toml` does not say where the class is, or there is no token.
    """
    place = course.outline.places.get(platform)
    if place is None:
        raise Problem(
            f"course.toml does not say where the class is on {PLATFORMS[platform]}. Add a table [{platform}] with "
            f"{_EXAMPLE[platform]} in the address of the course's page"
        )
    from course.grading.lms.secret import read_token

    token = read_token(platform, place)
    if platform == "canvas":
        from course.grading.lms.canvas import Canvas

        return Canvas(place, token)
    from course.grading.lms.moodle import Moodle

    return Moodle(place, token)
