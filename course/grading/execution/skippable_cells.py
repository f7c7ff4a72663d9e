"""Find the course's own cells that grading may skip, because they only show something.

A notebook is full of plots and demonstrations that take most of its time. Of the cells that are exactly as they were
given out, only those run that a graded or a student's cell depends on, directly or through other cells. What depends
on what is read from names. A cell matters if it binds a name that a later cell that matters mentions, or a function,
whenever it may be called; and if it changes in place what any cell that matters has a name for. A student's code that
reaches for names in other ways than by writing them makes everything run.

How names are read is said in `intake/cell_names.py`. What an instructor's own graded cells depend on is read more
carefully: there a call may change all that it is given.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping
from math import inf

from nbformat import NotebookNode

from course.grading.intake.cell_names import INDIRECT, CellNames, Effect, aliases, read_calls, read_cell
from course.source import tree


def skippable(nb: NotebookNode, given: Collection[str], own: Collection[int] = ()) -> tuple[int, ...]:
    """The indices of the code cells of `nb` that need not run.

    Args:
        given: the sources of the plain code cells the course gave out.
        own: the indices of an instructor's own graded cells, and of the answers to them.
    """
    if any(unsure(nb.cells[index].source) for index in own):
        return ()
    cells = {index: cell for index, cell in enumerate(nb.cells) if cell.cell_type == "code"}
    read = {index: known for index, cell in cells.items() if (known := read_cell(cell.source)) is not None}
    if len(read) < len(cells):
        return ()  # not Python as it stands: magics, or an unfinished line
    shows = {index: cell for index, cell in read.items() if not cell.settles and _is_given(cells[index], given)}
    for index in _needed_by(own, cells, read):
        shows.pop(index, None)
    needed: dict[str, float] = {}
    for index in read.keys() - shows.keys():
        _need(needed, read[index], index)
    if needed.keys() & INDIRECT:
        return ()
    while matter := [
        index
        for index, cell in shows.items()
        if needed.keys() & cell.touched or any(index < needed.get(name, -1) for name in cell.bound)
    ]:
        for index in matter:
            _need(needed, shows.pop(index), index)
    return tuple(shows)


def unsure(source: str) -> str:
    """Why nobody can tell from its names what a cell needs; nothing where one can."""
    cell = read_cell(source)
    if cell is None:
        return "is not plain Python"
    if indirect := (cell.at_once | cell.within) & INDIRECT:
        return f"uses {', '.join(sorted(indirect))}"
    return "imports *" if any(alias.name == "*" for alias in aliases(tree(source))) else ""


def _needed_by(own: Collection[int], cells: Mapping[int, NotebookNode], read: Mapping[int, CellNames]) -> set[int]:
    """The cells that the `own` ones depend on, themselves included: a call may change all that it is given.

    Imports, functions and classes are not changed by that. Who calls a function may change what that does.
    """
    if not own:
        return set()
    calls = {index: read_calls(cells[index].source) for index in read}
    bound = {name for cell in read.values() for name in cell.bound}
    fixed = {name for cell in calls.values() for name in cell.fixed} | (set(dir(builtins)) - bound)
    needed: dict[str, float] = {}
    taken: set[int] = set()
    more = [index for index, cell in calls.items() if index in own or cell.seeds]
    while more:
        for index in more:
            _need(needed, read[index], index, but_for=calls[index].written)
        taken.update(more)
        names = needed.keys() - fixed
        effective = _effective(names, [effect for cell in calls.values() for effect in cell.effects])
        more = [
            index
            for index, cell in read.items()
            if index not in taken
            and (
                needed.keys() & cell.touched
                or names & calls[index].given
                or effective & calls[index].called
                or any(index < needed.get(name, -1) for name in cell.bound)
            )
        ]
    return taken


def _effective(names: Collection[str], effects: Collection[Effect]) -> set[str]:
    """The functions that may change what one of `names` stands for, by themselves or by those that they call."""
    found: set[str] = set()
    while more := {one.name for one in effects if one.changes.intersection(names) or one.calls & found} - found:
        found |= more
    return found


def _need(needed: dict[str, float], cell: CellNames, index: int, but_for: Collection[str] = ()) -> None:
    """Notes up to which cell each name is needed, now that the cell at `index` is known to run."""
    needed.update({name: max(index, needed.get(name, -1)) for name in cell.at_once.difference(but_for)})
    needed.update(dict.fromkeys(cell.within.difference(but_for), inf))


def _is_given(cell: NotebookNode, given: Collection[str]) -> bool:
    return "nbgrader" not in cell.metadata and cell.source in given
