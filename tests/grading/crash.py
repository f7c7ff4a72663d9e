"""Grades a class as a program, to be killed: `python -m tests.grading.crash COURSE [SCHEDULER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from course.course import course_in
from course.grading.classroom.grade_command import grade_topic

from .lesson import TOPIC

if __name__ == "__main__":
    scheduler = sys.argv[2] if len(sys.argv) > 2 else None
    sys.exit(grade_topic(course_in(Path(sys.argv[1])), TOPIC, workers=2, scheduler=scheduler, settings={"timeout": 20}))
