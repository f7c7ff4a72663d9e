"""Read graded cells: their nbgrader metadata, their names, and the exercises that they check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat import NotebookNode, v4

from course.course import Course
from course.syllabus import Topic

METADATA = "course"
"""The metadata key under which an executed notebook keeps its verdicts, for summaries and reports."""


def exercises_in(course: Course, nb: NotebookNode) -> dict[int, str]:
    """Return the cells that the judge decides: the name, by index, of each exercise that has hidden tests."""
    marked = checks_in(course, nb)
    if not marked:
        return {}
    from course.hidden import find

    def known(name: str) -> bool:
        try:
            find(course, name)
        except KeyError:
            return False
        return True

    return {index: name for index, name in marked.items() if known(name)}


def checks_in(course: Course, nb: NotebookNode) -> dict[int, str]:
    """Return the name, by index, of each graded cell that checks an exercise, without importing torch.

    nbgrader scores an instructor's own test that has an exercise's name but does not call `check`.
    """
    graded = {i: grade_id(cell) for i, cell in enumerate(nb.cells) if cell.cell_type == "code" and is_test(cell)}
    return {i: name for i, name in graded.items() if is_check(course, name, nb.cells[i].source)}


def is_check(course: Course, name: str, source: str) -> bool:
    """Whether the judge decides a graded cell with this name and source."""
    return in_course(course, name) and checks(source, name)


def checks(source: str, name: str) -> bool:
    """Whether a cell's code calls `check` for the exercise `name`."""
    return re.search(rf"\bcheck\(\s*[\"']{re.escape(name)}[\"']", source) is not None


def topics_of(course: Course, names: Iterable[str]) -> frozenset[Topic]:
    """Return the topics that exercises belong to; names that the course does not know are skipped."""
    return frozenset(course.find_item(name)[0] for name in names if in_course(course, name))


def in_course(course: Course, name: str) -> bool:
    """Whether the course has an item of that name."""
    try:
        course.find_item(name)
    except KeyError:
        return False
    return True


def is_test(cell: NotebookNode) -> bool:
    """Whether nbgrader would score the cell by its outputs."""
    metadata = cell.metadata.get("nbgrader", {})
    return bool(metadata.get("grade")) and not metadata.get("solution")


STUBS = ("# YOUR CODE HERE", "raise NotImplementedError()", "YOUR ANSWER HERE")


SOLUTION_SUFFIX = "-solution"


BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def grade_id(cell: Mapping[str, Any]) -> str:
    """Return nbgrader's id of a cell, or an empty string; a submission's metadata may contain anything."""
    marks = cell.get("metadata", {}).get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def mend_line_ends(notebook: NotebookNode) -> None:
    r"""Replace Windows line ends in all cells by `\n`, as in the release."""
    for cell in notebook.cells:
        cell.source = cell.source.replace("\r\n", "\n")


def notebook_bytes(nb: NotebookNode) -> bytes:
    """Return a notebook as bytes to send between processes, without validation."""
    return json.dumps(nb, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def read_notebook(data: bytes) -> NotebookNode:
    """Return the notebook that `notebook_bytes` made `data` from."""
    return v4.reads(data.decode())
