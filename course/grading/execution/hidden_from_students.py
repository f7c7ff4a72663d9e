"""The folders that a student's code must not see: the class's, the exchange, the tests."""

from __future__ import annotations

from pathlib import Path

import course
from course.data.cache import cache_folder
from course.grading.course_folder import is_course
from course.grading.execution.corpora_cache import GRADERS
from course.grading.sandbox.spec import distinct

CLASS = (
    *("submitted", "attempts", "autograded", "feedback", "downloaded", "solutions", "source", "exercises", "reports"),
    *(".course", "gradebook.db", ".course-secret", "nbgrader_config.py", "grades.csv", "exports", "tests", ".git"),
)
"""What in a course's folder is not for students, by nbgrader's usual names and ours."""


EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
"""Where nbgrader has submissions handed in on a shared machine, unless it is told otherwise."""


def class_paths() -> list[Path]:
    """The files and folders of a class that are not for students.

    They are parts of the folder this process works in, of the course's own and of the cache, the exchange, and this
    process's package with its tests, of which a kernel's supervisor, having another, knows nothing.
    """
    here, package = Path.cwd(), Path(course.__file__).resolve().parent
    folders = distinct([here, *here.parents, *filter(is_course, package.parents)])
    parts = [Path(up, name) for up in folders for name in CLASS]
    kept = [cache_folder() / name for name in GRADERS]
    tests = [package] if (package / "hidden").is_dir() else []
    return [path for path in (*parts, *kept, EXCHANGE, *tests) if path.exists()]
