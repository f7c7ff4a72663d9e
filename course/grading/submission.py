"""Where the `nbgrader_config.py` of a course made by version 0.1.0 looks for what `course submit` packs."""

from course.grading.intake.submit import ARCHIVE, MANIFEST

__all__ = ["ARCHIVE", "MANIFEST"]
