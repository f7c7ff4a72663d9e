"""How nbgrader runs this course: from its own commands, from formgrader and from `course grade` alike."""

import glob
import os
import sys
import sysconfig
from pathlib import Path

try:
    from course.grading.configuration import configure
    from course.grading.notebooks import refresh
    from course.grading.problem import Problem
    from course.grading.submission import ARCHIVE, MANIFEST
except Exception as fault:  # nbgrader would go on with settings of its own, and without a sandbox
    sys.exit(f"course: {fault}")

c = get_config()
root = Path(__file__).resolve().parent

# nbgrader starts `alembic` by name when it makes a gradebook, and finds it even where no environment is activated.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", os.defpath), sysconfig.get_path("scripts")])

# Where things are. Sources are the .py files in solutions/; the notebooks beside them are built below.
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

# What `course submit` packs: `nbgrader zip_collect` takes student and time from the zip's name, and every file in it.
c.FileNameCollectorPlugin.named_regexp = ARCHIVE

# The releases are committed, so nbgrader finds them there and would skip them while its gradebook is still empty.
c.GenerateAssignment.force = True
# Points given by hand and moved due dates change the gradebook alone: pages made before are made anew.
c.GenerateFeedback.force = True

# Grading and feedback: Repair mends what students do to notebooks, JudgedExecute runs them and lets the judge decide
# outside, feedback shows what a student wrote and what the judge said, and nothing of hidden tests.
configure(c, root)

try:
    refresh(root)
except Problem as problem:
    print(f"course: {problem}", file=sys.stderr)
