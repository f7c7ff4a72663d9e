"""The folders that a student's code must not see: the class's, the exchange, the tests."""

from __future__ import annotations

from pathlib import Path

import course
from course.course import is_course
from course.data.cache import cache_folder
from course.grading.execution.corpora_cache import GRADERS
from course.grading.sandbox.spec import distinct

CLASS = (
    *("submitted", "attempts", "autograded", "feedback", "downloaded", "solutions", "source", "exercises", "reports"),
    *(".course", "gradebook.db", ".course-secret", "nbgrader_config.py", "grades.csv", "exports", "tests", ".git"),
)
"""Names in a course's folder that students must not read: nbgrader's usual ones and the course's."""


EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
"""nbgrader's default folder for submissions on a shared machine."""


def class_paths() -> list[Path]:
    """Return the existing files and folders of a class that students must not read.

    They lie in the working folder and those above it, the course's folder, the cache and the exchange. The package
    with the hidden tests is one of them, and a kernel's supervisor cannot find it, because it imports another package.
    """
    here, package = Path.cwd(), Path(course.__file__).resolve().parent
    folders = distinct([here, *here.parents, *filter(is_course, package.parents)])
    parts = [Path(up, name) for up in folders for name in CLASS]
    kept = [cache_folder() / name for name in GRADERS]
    tests = [package] if (package / "hidden").is_dir() else []
    return [path for path in (*parts, *kept, EXCHANGE, *tests) if path.exists()]
