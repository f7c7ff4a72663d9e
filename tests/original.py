"""Look up topics and exercises of the original course, in the working folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.course import Course

if TYPE_CHECKING:
    from course.exercise import Exercise

ORIGINAL = Course()
find_topic, find_item, item_of = ORIGINAL.find_topic, ORIGINAL.find_item, ORIGINAL.item_of


def find(name: str) -> Exercise:
    """The declaration of the exercise called `name`."""
    from course.hidden import find  # imported here, because it loads torch

    return find(ORIGINAL, name)


def points_of(name: str) -> float:
    """The points of the exercise called `name`."""
    return item_of(name).points
