"""Kept for old courses: where the `nbgrader_config.py` of a course made by version 0.1.0 looks for `configure`."""

from course.grading.nbgrader_bridge.configure import configure

__all__ = ["configure"]
