"""Graded cells: their marks, their names, and the exercises that they check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat import NotebookNode, v4

from course.syllabus import find_item

METADATA = "course"
"""Where an executed notebook's metadata keeps its verdicts, for summaries and reports."""


def exercises_in(nb: NotebookNode) -> dict[int, str]:
    """The cells the judge decides: index and name of every one that checks an exercise there are hidden tests of."""
    marked = checks_in(nb)
    if not marked:
        return {}
    from course.hidden import find

    def known(name: str) -> bool:
        try:
            find(name)
        except KeyError:
            return False
        return True

    return {index: name for index, name in marked.items() if known(name)}


def checks_in(nb: NotebookNode) -> dict[int, str]:
    """The graded cells that check an exercise of the course: asked for first, as looking for its tests imports torch.

    An instructor's own tests of something that goes by the name of an exercise are nbgrader's to score.
    """
    graded = {i: grade_id(cell) for i, cell in enumerate(nb.cells) if cell.cell_type == "code" and is_test(cell)}
    return {i: name for i, name in graded.items() if is_check(name, nb.cells[i].source)}


def is_check(name: str, source: str) -> bool:
    """Whether the judge decides a graded cell of that name and source."""
    return in_syllabus(name) and checks(source, name)


def checks(source: str, name: str) -> bool:
    """Whether a cell's code calls `check` for the exercise `name`."""
    return re.search(rf"\bcheck\(\s*[\"']{re.escape(name)}[\"']", source) is not None


def topics_of(names: Iterable[str]) -> frozenset[str]:
    """The topics that exercises belong to; names the course does not know are passed over."""
    return frozenset(find_item(name)[0].name for name in names if in_syllabus(name))


def in_syllabus(name: str) -> bool:
    """Whether the course has an item of that name."""
    try:
        find_item(name)
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
    """What nbgrader calls a cell, or nothing: a submission's metadata may hold anything."""
    marks = cell.get("metadata", {}).get("nbgrader")
    name = marks.get("grade_id") if isinstance(marks, dict) else None
    return name if isinstance(name, str) else ""


def mend_line_ends(notebook: NotebookNode) -> None:
    """End the lines of all cells as the release does, whatever an editor on Windows made of them."""
    for cell in notebook.cells:
        cell.source = cell.source.replace("\r\n", "\n")


def notebook_bytes(nb: NotebookNode) -> bytes:
    """A notebook on its way between processes, without looking once more whether it is valid."""
    return json.dumps(nb, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def read_notebook(data: bytes) -> NotebookNode:
    """The inverse of `notebook_bytes`."""
    return v4.reads(data.decode())
