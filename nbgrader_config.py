"""How nbgrader runs this course: from its own commands, from formgrader and from `course grade` alike."""

import sys

try:
    from course.grading.release.course_config import configure_course
except Exception as fault:  # noqa: BLE001 - nbgrader would go on with settings of its own, and without a sandbox
    sys.exit(f"course: {fault}")

c = get_config()
configure_course(c, __file__)
