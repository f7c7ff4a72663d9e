"""A short lesson, four real exercises long, and hands to fill it in: classes for the tests of grading."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.course import course_in
from course.grading.cells import SOLUTION_SUFFIX
from course.grading.course_folder import notebook_path, release_path
from course.grading.release.make_release import register
from course.syllabus import Topic
from tests.original import find_topic

TOPIC: Topic = find_topic("self_attention")
NAME = TOPIC.folder

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[2]
_FOLDER = TemporaryDirectory(prefix="lesson-")

Edit = Callable[[NotebookNode], None]


def make_course(root: Path) -> Path:
    """A course in `root` that holds the lesson, released and known to its gradebook."""
    return shutil.copytree(_made(), root, dirs_exist_ok=True)


@cache
def _made() -> Path:
    """The course that is copied, made once a process; its folder ends with the process."""
    root = Path(_FOLDER.name)
    (root / "solutions").mkdir()
    shutil.copy(_HERE / f"{NAME}.py", root / "solutions")
    shutil.copy(_REPOSITORY / "nbgrader_config.py", root)
    register(course_in(root), TOPIC)
    return root


def solved(root: Path) -> NotebookNode:
    """The lesson with its solutions."""
    return nbformat.read(notebook_path(root, TOPIC), as_version=4)


def hand_in(root: Path, student: str, nb: NotebookNode, *edits: Edit) -> Path:
    """Put a notebook, edited, into the student's submission; returns the file."""
    for edit in edits:
        edit(nb)
    path = root / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path.write_text(nbformat.writes(nb, version=nbformat.NO_CONVERT), encoding="utf-8")
    return path


def find(nb: NotebookNode, grade_id: str) -> NotebookNode:
    """The cell with that id."""
    return next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def answers(given: Mapping[str, str]) -> Edit:
    """Write these solutions into their cells."""

    def edit(nb: NotebookNode) -> None:
        for name, source in given.items():
            find(nb, name + SOLUTION_SUFFIX).source = source

    return edit


def before(name: str, source: str) -> Edit:
    """Add an ordinary cell in front of the check of an exercise."""

    def edit(nb: NotebookNode) -> None:
        index = nb.cells.index(find(nb, name))
        nb.cells.insert(index, new_code_cell(source))

    return edit


def first(source: str) -> Edit:
    """Add an ordinary cell below the imports."""

    def edit(nb: NotebookNode) -> None:
        nb.cells.insert(3, new_code_cell(source))

    return edit


def deleted(*names: str) -> Edit:
    """Delete these cells."""

    def edit(nb: NotebookNode) -> None:
        nb.cells = [cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in names]

    return edit


def copied(name: str) -> Edit:
    """Copy a graded cell and paste it below, as Jupyter does: metadata and all, but with an id of its own."""

    def edit(nb: NotebookNode) -> None:
        cell = find(nb, name)
        copy = deepcopy(cell)
        copy.id = f"{cell.id[:50]}-again"
        nb.cells.insert(nb.cells.index(cell) + 1, copy)

    return edit


__all__ = [
    "NAME",
    "TOPIC",
    "answers",
    "before",
    "copied",
    "deleted",
    "find",
    "first",
    "hand_in",
    "make_course",
    "release_path",
    "solved",
]
