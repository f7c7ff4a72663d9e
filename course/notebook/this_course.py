"""Find the course that a notebook belongs to, for `check`, `hint`, `progress` and the others that students call."""

from __future__ import annotations

from functools import cache

from ..course import Course, find_course
from ..outline import Faulty
from .hide_traceback import hide_traceback


@cache
def this_course() -> Course:
    """Return the course of this process, a notebook's kernel, found at the first call.

    Students call `check` and its siblings without a course, and a kernel runs one notebook. So this is the one place
    that keeps a course for a whole process. A student edition carries the course's file, wherever its notebooks are.

    Raises:
        Faulty: `course.toml` is invalid. The notebook shows the sentence without a traceback.
    """
    try:
        return find_course()
    except Faulty as fault:
        raise hide_traceback(fault) from None
