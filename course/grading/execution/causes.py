"""Explain a failing answer by an earlier cell that stopped with an error or that fills the memory."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from nbformat import NotebookNode

from course.grading.cells import is_test
from course.grading.execution.cell_end import CellEnd
from course.grading.intake.cell_names import read_calls, read_cell
from course.grading.kernels.resource_watch import in_words

UNDEFINED = re.compile(r"name '(\w+)' is not defined")
"""A pattern for Python's message about an undefined name."""

NO_MEMORY = ("MemoryError", "allocate memory", "not enough memory")
"""Parts of the messages by which Python, torch and the system report that memory ran out in a cell."""


def described(nb: NotebookNode, index: int) -> str:
    """Return how messages name a cell: its number and the beginning of its first line."""
    first = nb.cells[index].source.strip().partition("\n")[0]
    return f"cell {index + 1} ({first[:60]!r})"


def failed_cell(nb: NotebookNode, ends: Mapping[int, CellEnd], index: int, said: str) -> str:
    """Return a sentence on the cell before `index` whose error left a name undefined that `said` mentions, or "".

    If that cell itself lacked a name, the sentence is about the first cell in the chain. It is "" if that cell raised
    `NotImplementedError`, because the solution is not written yet. Tests are never quoted.
    """
    missed = UNDEFINED.search(said)
    found = _where_it_begins(nb, ends, index, missed[1]) if missed else None
    if missed is None or found is None or ends[found].ename == "NotImplementedError":
        return ""
    error = textwrap.shorten(f"{ends[found].ename}: {ends[found].evalue}", 240, placeholder=" …")
    return f"`{missed[1]}` is missing because {described(nb, found)} stopped with {error}."


def _where_it_begins(nb: NotebookNode, ends: Mapping[int, CellEnd], before: int, name: str) -> int | None:
    """Return the last cell above `before` that would have bound `name` but stopped, or the cell that made it stop."""
    stopped = [index for index in range(before) if index in ends and ends[index].kind == "error"]
    for index in reversed(stopped):
        if not is_test(nb.cells[index]) and name in _bound(nb.cells[index].source):
            missed = UNDEFINED.fullmatch(ends[index].evalue)
            earlier = _where_it_begins(nb, ends, index, missed[1]) if missed else None
            return index if earlier is None else earlier
    return None


def _bound(source: str) -> frozenset[str]:
    """Return the names that a cell binds, imports included; empty if it is not plain Python."""
    names = read_cell(source)
    return frozenset() if names is None else names.bound | read_calls(source).fixed


def full_cell(nb: NotebookNode, ends: Mapping[int, CellEnd], but: int, allowed: int | None) -> str:
    """Return a sentence on the cell that keeps the most memory, or "".

    It is "" unless the cells other than `but` keep at least half of the `allowed` bytes together.
    """
    kept = {index: end.kept for index, end in ends.items() if index != but}
    if not allowed or sum(kept.values()) < allowed / 2:
        return ""
    fullest = max(kept, key=lambda index: kept[index])
    may = f"The notebook may use {in_words(allowed)} of memory"
    return f"{may}, and {described(nb, fullest)} keeps {in_words(kept[fullest])} of it. Let that cell keep less."
