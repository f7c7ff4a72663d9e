"""Find the course's own cells that grading may skip, because they only show something.

Plots and demonstrations take most of a notebook's time. Of the cells that are exactly as they were given out, only
those run that a graded cell or a student's cell depends on, directly or through other cells. Dependencies are read
from names. A cell is needed if it binds a name that a later needed cell mentions, or a name that a needed function
mentions. It is also needed if it changes in place an object that a needed cell names. If a student's code can reach
names without writing them (through `globals`, for example), every cell runs.

`intake/cell_names.py` reads the names. For an instructor's own graded cells the analysis is stricter: there a call may
change every argument.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping
from math import inf

from nbformat import NotebookNode

from course.grading.intake.cell_names import INDIRECT, CellNames, Effect, aliases, read_calls, read_cell
from course.source import tree


def skippable(nb: NotebookNode, given: Collection[str], own: Collection[int] = ()) -> tuple[int, ...]:
    """Return the indices of the code cells of `nb` that need not run.

    Args:
        given: the sources of the plain code cells the course gave out.
        own: the indices of an instructor's own graded cells, and of their answers.
    """
    if any(unsure(nb.cells[index].source) for index in own):
        return ()
    cells = {index: cell for index, cell in enumerate(nb.cells) if cell.cell_type == "code"}
    read = {index: known for index, cell in cells.items() if (known := read_cell(cell.source)) is not None}
    if len(read) < len(cells):
        return ()  # some cell is not plain Python: a magic, or a syntax error
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
    """Return why a cell's dependencies cannot be read from its names, or "" if they can."""
    cell = read_cell(source)
    if cell is None:
        return "is not plain Python"
    if indirect := (cell.at_once | cell.within) & INDIRECT:
        return f"uses {', '.join(sorted(indirect))}"
    return "imports *" if any(alias.name == "*" for alias in aliases(tree(source))) else ""


def _needed_by(own: Collection[int], cells: Mapping[int, NotebookNode], read: Mapping[int, CellNames]) -> set[int]:
    """Return the cells that the `own` ones depend on, themselves included.

    A call may change all its arguments, except imports, functions and classes, and also what the function changes.
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
    """Return the functions that may change one of `names`, directly or through functions that they call."""
    found: set[str] = set()
    while more := {one.name for one in effects if one.changes.intersection(names) or one.calls & found} - found:
        found |= more
    return found


def _need(needed: dict[str, float], cell: CellNames, index: int, but_for: Collection[str] = ()) -> None:
    """Record in `needed` the last cell that needs each name, now that the cell at `index` runs."""
    needed.update({name: max(index, needed.get(name, -1)) for name in cell.at_once.difference(but_for)})
    needed.update(dict.fromkeys(cell.within.difference(but_for), inf))


def _is_given(cell: NotebookNode, given: Collection[str]) -> bool:
    return "nbgrader" not in cell.metadata and cell.source in given
