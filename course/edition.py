"""Say which files the editions of this package contain: the student's wheel, and the package in a graded kernel.

Both have the notebook's side (`check`, `fit`, data, plots, the judge), and answer keys in place of references and
hidden tests. Of the grading part the wheel has what `course list`, `course doctor` and `course submit` need, and a
kernel also what forks and sandboxes it. A wheel also has the released notebooks. No other module decides this.
"""

from __future__ import annotations

from pathlib import PurePath

SOLUTIONS = ("reference", "hidden")
"""Folders with solutions, which no edition contains."""

KEYS = "keys"
"""The folder of answer keys, which are made for an edition and not copied."""

NOTEBOOKS = "notebooks"
"""The folder of released notebooks in a wheel, for `course start`. A kernel needs none."""

GRADING = "grading"

STUDENTS = frozenset({"__init__.py", "course_files", "intake", "machine", "sandbox"})
"""Files and folders of the grading part in the student's wheel."""

KERNELS = STUDENTS | {"kernels"}
"""Files and folders of the grading part in a graded notebook's kernel."""

GRADERS_ENTRY_POINTS = ("jupyter_client.kernel_provisioners",)
"""Entry points of the package that lead to code which the wheel lacks."""


def is_held(path: PurePath, grading: frozenset[str]) -> bool:
    """Return whether an edition contains a file of the package. `grading` is its share of the grading part.

    Args:
        path: relative to the package.
    """
    first, *below = path.parts
    if first in (*SOLUTIONS, KEYS, NOTEBOOKS) or path.name == "README.md" or "__pycache__" in path.parts:
        return False
    return first != GRADING or not below or below[0] in grading
