"""What earlier cells have to do with an answer that fails: one stopped with an error, or one keeps the memory full."""

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
"""What Python says of a name that nothing was given to."""

NO_MEMORY = ("MemoryError", "allocate memory", "not enough memory")
"""What Python, torch and the system say where there is no more memory, in a cell of the notebook."""


def described(nb: NotebookNode, index: int) -> str:
    """A cell as a message names it: by its number and the beginning of its first line."""
    first = nb.cells[index].source.strip().partition("\n")[0]
    return f"cell {index + 1} ({first[:60]!r})"


def failed_cell(nb: NotebookNode, ends: Mapping[int, CellEnd], index: int, said: str) -> str:
    """Which cell before `index` stopped with an error, so that a name is missing of which `said` speaks; else nothing.

    That cell may itself have missed a name: told is the one where it begins. Who has not written a solution yet is not
    told of cells that need it, and tests are none of the cells that are quoted.
    """
    missed = UNDEFINED.search(said)
    found = _where_it_begins(nb, ends, index, missed[1]) if missed else None
    if missed is None or found is None or ends[found].ename == "NotImplementedError":
        return ""
    error = textwrap.shorten(f"{ends[found].ename}: {ends[found].evalue}", 240, placeholder=" …")
    return f"`{missed[1]}` is missing because {described(nb, found)} stopped with {error}."


def _where_it_begins(nb: NotebookNode, ends: Mapping[int, CellEnd], before: int, name: str) -> int | None:
    """The last cell before one that stopped and would have given something to `name`, or what that one rests on."""
    stopped = [index for index in range(before) if index in ends and ends[index].kind == "error"]
    for index in reversed(stopped):
        if not is_test(nb.cells[index]) and name in _bound(nb.cells[index].source):
            missed = UNDEFINED.fullmatch(ends[index].evalue)
            earlier = _where_it_begins(nb, ends, index, missed[1]) if missed else None
            return index if earlier is None else earlier
    return None


def _bound(source: str) -> frozenset[str]:
    """The names that a cell gives something to, by imports too; none of what is no plain Python."""
    names = read_cell(source)
    return frozenset() if names is None else names.bound | read_calls(source).fixed


def full_cell(nb: NotebookNode, ends: Mapping[int, CellEnd], but: int, allowed: int | None) -> str:
    """Which cell keeps the most memory, where those other than `but` keep half of what is allowed; else nothing."""
    kept = {index: end.kept for index, end in ends.items() if index != but}
    if not allowed or sum(kept.values()) < allowed / 2:
        return ""
    fullest = max(kept, key=lambda index: kept[index])
    may = f"The notebook may use {in_words(allowed)} of memory"
    return f"{may}, and {described(nb, fullest)} keeps {in_words(kept[fullest])} of it. Let that cell keep less."
