"""How the execution of a cell ended, the fault that ends a run early, and the earlier cell that caused a failure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.grading.course_files.cells import is_test
from course.grading.execution.limits import millions
from course.grading.intake.cell_names import read_calls, read_cell
from course.grading.kernels.resource_watch import Excess, in_words

LIMIT = "LimitExceeded"
"""The error's name in the output of a cell in which the notebook exceeded a limit."""

UNREADABLE = "an output of this cell could not be read"

NOT_RUN = new_output(
    "display_data",
    {
        "text/plain": "(This cell was not run for grading, because no check depends on it.)",
        "text/markdown": "*This cell was not run for grading, because no check depends on it.*",
    },
)
"""The output of a cell that was skipped."""


class KernelFault(Exception):
    """A kernel that could not be started, or whose supervisor ended: the machine's fault, not the student's."""


@dataclass(frozen=True)
class CellEnd:
    """How the execution of a cell ended.

    `kind` is `time` if the cell was interrupted or never answered, `memory` or `died` if its kernel ended, and
    `skipped` if it was not run. `kept` is by how many bytes the kernel's memory grew.
    """

    kind: Literal["done", "error", "time", "memory", "died", "skipped"] = "done"
    ename: str = ""
    evalue: str = ""
    kept: int = 0

    @property
    def over(self) -> bool:
        """Whether no later cell can run."""
        return self.kind in ("died", "memory") or self.ename == "Unresponsive"


def cut(cell: NotebookNode, ename: str, evalue: str, kind: Any = "time") -> CellEnd:
    """Add an error output to a cell, so that nbgrader gives it no points, and return how it ended."""
    red = f"\x1b[0;31m{ename}\x1b[0m: {evalue}"
    cell.outputs.append(NotebookNode(output_type="error", ename=ename, evalue=evalue, traceback=[red]))
    return CellEnd(kind, ename, evalue)


def cut_by(cell: NotebookNode, excess: Excess | None) -> CellEnd:
    """Add the error of a cell whose kernel ended, because of an `excess` or by itself."""
    if excess is None:
        return cut(cell, "DeadKernelError", "the notebook's process ended", "died")
    kind = {"cpu": "time", "memory": "memory"}.get(excess.what, "died")
    ename = "Unresponsive" if kind == "time" else LIMIT
    return cut(cell, ename, f"the notebook {excess.sentence()}", kind)


def printed_too_much(cell: NotebookNode, most: int) -> CellEnd:
    """Add the error of a cell that printed more than `most` characters."""
    return cut(cell, "OutputLimit", f"the cell printed more than {millions(most)}", "error")


def unreadable(cell: NotebookNode) -> CellEnd:
    """Replace outputs that cannot be saved in a notebook file by an error."""
    cell.outputs, cell.execution_count = [], None
    return cut(cell, "OutputLimit", UNREADABLE, "error")


def skipped(cell: NotebookNode) -> CellEnd:
    """Give a cell that is not run an output that says so."""
    cell.outputs = [deepcopy(NOT_RUN)]
    return CellEnd("skipped")


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
