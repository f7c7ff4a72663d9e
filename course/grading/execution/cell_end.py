"""How the execution of a cell ended, and the fault that ends a run early."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.grading.execution.output_limits import millions
from course.grading.kernels.resource_watch import Excess

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
