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
"""The name of the error in a cell during which the notebook used too much."""

UNREADABLE = "an output of this cell could not be read"

NOT_RUN = new_output(
    "display_data",
    {
        "text/plain": "(This cell was not run for grading, because no check depends on it.)",
        "text/markdown": "*This cell was not run for grading, because no check depends on it.*",
    },
)
"""What stands below a cell that was left out."""


class KernelFault(Exception):
    """The kernel could not be started, or its supervisor ended: nothing the student did."""


@dataclass(frozen=True)
class CellEnd:
    """How a cell came to its end.

    `time` when it was interrupted or never answered, `memory` and `died` with its kernel, `skipped` when not run.
    Afterwards its process had `kept` so many bytes more than before.
    """

    kind: Literal["done", "error", "time", "memory", "died", "skipped"] = "done"
    ename: str = ""
    evalue: str = ""
    kept: int = 0

    @property
    def over(self) -> bool:
        """Whether the notebook ended with the cell."""
        return self.kind in ("died", "memory") or self.ename == "Unresponsive"


def cut(cell: NotebookNode, ename: str, evalue: str, kind: Any = "time") -> CellEnd:
    """End a cell with an error output, which is worth nothing to nbgrader."""
    red = f"\x1b[0;31m{ename}\x1b[0m: {evalue}"
    cell.outputs.append(NotebookNode(output_type="error", ename=ename, evalue=evalue, traceback=[red]))
    return CellEnd(kind, ename, evalue)


def cut_by(cell: NotebookNode, excess: Excess | None) -> CellEnd:
    """End a cell whose kernel is gone: because it used too much, or by its own doing."""
    if excess is None:
        return cut(cell, "DeadKernelError", "the notebook's process ended", "died")
    kind = {"cpu": "time", "memory": "memory"}.get(excess.what, "died")
    ename = "Unresponsive" if kind == "time" else LIMIT
    return cut(cell, ename, f"the notebook {excess.sentence()}", kind)


def printed_too_much(cell: NotebookNode, most: int) -> CellEnd:
    """End a cell that printed more than `most` characters."""
    return cut(cell, "OutputLimit", f"the cell printed more than {millions(most)}", "error")


def unreadable(cell: NotebookNode) -> CellEnd:
    """End a cell with outputs that no file can hold, and drop them."""
    cell.outputs, cell.execution_count = [], None
    return cut(cell, "OutputLimit", UNREADABLE, "error")


def skipped(cell: NotebookNode) -> CellEnd:
    """End a cell that is left out, with a sentence that says so."""
    cell.outputs = [deepcopy(NOT_RUN)]
    return CellEnd("skipped")
