"""Kept for old courses: where the `nbgrader_config.py` of a course made by version 0.1.0 looks for `refresh`."""

from course.grading.authoring.source import refresh

__all__ = ["refresh"]
