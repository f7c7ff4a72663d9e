"""What the editions of this package hold: the student's wheel, and what a graded notebook's kernel imports.

Both have the notebook's side (`check`, `fit`, data, plots, the judge), and answer keys in place of references and
hidden tests. Of the grading machine the wheel has what `course list`, `course doctor` and `course submit` need, and a
kernel what forks and confines it, too. A wheel also has the released notebooks. This is the only place that says so.
"""

from __future__ import annotations

from pathlib import PurePath

SOLUTIONS = ("reference", "hidden")
"""Folders that answer the exercises: in no edition."""

KEYS = "keys"
"""The folder of answer keys, which are made for an edition and not copied."""

NOTEBOOKS = "notebooks"
"""The folder of released notebooks in a wheel, which `course start` copies; a kernel needs none."""

GRADING = "grading"

STUDENTS = frozenset(
    {
        *("__init__.py", "problem.py", "cells.py", "catalogue.py", "course_folder.py", "own_cells.py"),
        *("intake", "machine", "sandbox"),
    }
)
"""Files and folders of the grading machine in the student's wheel."""

KERNELS = STUDENTS | {"kernels"}
"""Those in a graded notebook's kernel."""

GRADERS_ENTRY_POINTS = ("jupyter_client.kernel_provisioners",)
"""Entry points of the package that lead to what the wheel does not hold."""


def is_held(path: PurePath, grading: frozenset[str]) -> bool:
    """Whether an edition takes over a file of the package; `grading` is its part of the grading machine.

    Args:
        path: as seen from the package.
    """
    first, *below = path.parts
    if first in (*SOLUTIONS, KEYS, NOTEBOOKS) or path.name == "README.md" or "__pycache__" in path.parts:
        return False
    return first != GRADING or not below or below[0] in grading
