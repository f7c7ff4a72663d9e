"""Configure nbgrader for a course, in one call from its `nbgrader_config.py`."""

from __future__ import annotations

import glob
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from course.course import Course, course_in
from course.files import is_shared, share_with_group
from course.grading.intake.submit import MANIFEST, archive_pattern
from course.grading.nbgrader_bridge.configure import configure
from course.grading.release.source import refresh
from course.outline import Faulty
from course.problem import Problem


def configure_course(c: Any, config_file: str) -> None:
    """Configure nbgrader for the course whose folder holds `config_file`, and build its notebooks.

    Settings that an instructor's file makes after this call override it.
    """
    root = Path(config_file).resolve().parent
    course = _course_or_exit(root)
    share_with_group(root)
    c.CourseDirectory.groupshared = is_shared(root)  # nbgrader then sets group permissions on its files
    # nbgrader starts `alembic` by name when it makes a gradebook. It must be on PATH without an activated environment.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
    _place(c, root)
    # The zips of `course submit`: `zip_collect` takes student and time from the name, and collects every file inside.
    c.FileNameCollectorPlugin.named_regexp = archive_pattern(course.known_folders)
    # Releases are committed, so nbgrader finds them and would skip them while its gradebook is still empty.
    c.GenerateAssignment.force = True
    # Manual grades and moved due dates change only the gradebook, so existing pages are generated again.
    c.GenerateFeedback.force = True
    configure(c, course)
    try:
        refresh(course)
    except Problem as problem:
        print(f"course: {problem}", file=sys.stderr)


_LAST_READ: dict[Path, Course] = {}
"""The courses that this process has read. Formgrader's server reads the configuration anew for each page."""


def _course_or_exit(root: Path) -> Course:
    """Return the course in `root`. If `course.toml` is faulty, a server goes on with what it read before."""
    try:
        _LAST_READ[root] = course_in(root)
    except Faulty as fault:
        if root not in _LAST_READ:
            sys.exit(f"course: {fault}")  # nbgrader would go on with settings of its own
    return _LAST_READ[root]


def _place(c: Any, root: Path) -> None:
    """Set the course's folders: sources are the .py files in solutions/, and notebooks are built beside them."""
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "assignments"
    # A second process that writes waits for its turn instead of failing with "database is locked".
    c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"
    # Running a solved notebook in place leaves trained weights there, which do not belong in a release.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "*.pyc",
        "__pycache__",
        "feedback",
        MANIFEST,
        *(f"{glob.escape(str(root))}/solutions/./*/{name}" for name in (".course", "checkpoints")),
    ]
