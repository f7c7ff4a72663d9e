"""All that a course's `nbgrader_config.py` says, in one call."""

from __future__ import annotations

import glob
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

from course.files import is_shared, share_with_group
from course.grading.authoring.source import refresh
from course.grading.intake.submit import ARCHIVE, MANIFEST
from course.grading.nbgrader_bridge.configure import configure
from course.grading.problem import Problem


def configure_course(c: Any, config_file: str) -> None:
    """Configure nbgrader for the course in whose folder `config_file` lies, and build its notebooks.

    What an instructor's file says below this call has the last word.
    """
    root = Path(config_file).resolve().parent
    share_with_group(root)
    c.CourseDirectory.groupshared = is_shared(root)  # nbgrader sets the rights of what it writes
    # nbgrader starts `alembic` by name when it makes a gradebook, and finds it even where no environment is activated.
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])
    _place(c, root)
    # What `course submit` packs: `zip_collect` takes student and time from the zip's name, and every file in it.
    c.FileNameCollectorPlugin.named_regexp = ARCHIVE
    # Releases are committed, so nbgrader finds them and would skip them while its gradebook is still empty.
    c.GenerateAssignment.force = True
    # Points given by hand and moved due dates change the gradebook alone: pages made before are made anew.
    c.GenerateFeedback.force = True
    configure(c, root)
    try:
        refresh(root)
    except Problem as problem:
        print(f"course: {problem}", file=sys.stderr)


def _place(c: Any, root: Path) -> None:
    """Say where things are: sources are the .py files in solutions/, and notebooks are built beside them."""
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.source_directory = "solutions"
    c.CourseDirectory.release_directory = "assignments"
    # A second process that writes waits for its turn instead of failing with "database is locked".
    c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}?timeout=60"
    # Running a solved notebook in place leaves its trained weights there: they are nobody else's.
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "*.pyc",
        "__pycache__",
        "feedback",
        MANIFEST,
        *(f"{glob.escape(str(root))}/solutions/./*/{name}" for name in (".course", "checkpoints")),
    ]
