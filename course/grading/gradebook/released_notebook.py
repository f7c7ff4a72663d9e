"""Read a released notebook from the gradebook at once, instead of cell by cell.

nbgrader's sanitising queries the gradebook for every cell of every submission. A `ReleasedNotebook` replaces the
gradebook in these steps. It is read once and serves all students of a class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReleasedCell:
    """The gradebook's record of one cell.

    `source`, `locked` and `checksum` are set if the cell was released, `max_score` (in points) if it is graded.
    """

    name: str
    cell_type: str = ""
    source: str = ""
    locked: bool = False
    checksum: str | None = None
    max_score: float = 0.0


@dataclass(frozen=True)
class ReleasedNotebook:
    """A read-only notebook of the gradebook; `kernelspec` is JSON.

    It has those methods and attributes of nbgrader's gradebook and notebooks that nbgrader's steps use.
    """

    name: str
    kernelspec: str | None
    source_cells: tuple[ReleasedCell, ...]
    grade_cells: tuple[ReleasedCell, ...]
    solution_cells: tuple[ReleasedCell, ...]
    task_cells: tuple[ReleasedCell, ...]

    def __deepcopy__(self, memo: dict[int, Any]) -> ReleasedNotebook:
        """Return the object itself, because it is immutable and nbconvert copies the resources of its steps."""
        return self

    def find_notebook(self, notebook: str, assignment: str) -> ReleasedNotebook:
        """Return the notebook itself."""
        return self

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> ReleasedCell:
        """Return a cell as it was released.

        Raises:
            MissingEntry: there is no cell of that name.
        """
        return _named(name, self.source_cells)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> ReleasedCell:
        """Return a cell that earns points, or a task cell.

        Raises:
            MissingEntry: there is no such cell of that name.
        """
        return _named(name, (*self.grade_cells, *self.task_cells))


def read_released(db_url: str, assignment: str, notebook: str) -> ReleasedNotebook:
    """Read a notebook from the gradebook.

    Raises:
        MissingEntry: the gradebook has no notebook of that name.
    """
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        found = gradebook.find_notebook(notebook, assignment)
        return ReleasedNotebook(
            found.name,
            found.kernelspec,
            tuple(
                ReleasedCell(cell.name, cell.cell_type, cell.source, cell.locked, cell.checksum)
                for cell in found.source_cells
            ),
            _graded(found.grade_cells),
            tuple(ReleasedCell(cell.name) for cell in found.solution_cells),
            _graded(found.task_cells),
        )


def _graded(cells: Iterable[Any]) -> tuple[ReleasedCell, ...]:
    return tuple(ReleasedCell(cell.name, cell.cell_type, max_score=cell.max_score) for cell in cells)


def _named(name: str, cells: Iterable[ReleasedCell]) -> ReleasedCell:
    from nbgrader.api import MissingEntry

    for cell in cells:
        if cell.name == name:
            return cell
    raise MissingEntry(f"no cell {name!r} was released")
