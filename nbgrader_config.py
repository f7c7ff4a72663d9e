"""How nbgrader runs this course: from its own commands, from formgrader and from `course grade` alike."""

import glob
import os
import sys
import sysconfig
from pathlib import Path

from course.grading.notebooks import refresh
from course.grading.problem import Problem

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
    *(f"{glob.escape(str(root))}/solutions/./*/{name}" for name in (".course", "checkpoints")),
]

# The releases are committed, so nbgrader finds them there and would skip them while its gradebook is still empty.
c.GenerateAssignment.force = True

# Grading: Repair mends what students do to notebooks, JudgedExecute runs them and lets the judge decide outside.
c.Autograde.sanitize_preprocessors = [
    "course.grading.preprocessors.Repair",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "course.grading.preprocessors.JudgedExecute",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# A deleted grade cell comes back and scores, instead of waiting for a manual grade for ever.
c.OverwriteCells.add_missing_cells = True
# With nbclient's default tag, a student could have any cell skipped, tests included.
c.Execute.skip_cells_with_tag = ""

# Feedback shows what a student wrote and what the judge said, not the hidden tests an instructor may have added.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "nbgrader.preprocessors.ClearHiddenTests",
    "course.grading.feedback.ShortTracebacks",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]

try:
    refresh(root)
except Problem as problem:
    print(f"course: {problem}", file=sys.stderr)
