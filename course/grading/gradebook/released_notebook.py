"""A released notebook as the gradebook knows it, read at once and not cell by cell.

nbgrader's sanitising asks the gradebook for every cell of every submission anew. `ReleasedNotebook` answers instead
of it, with what one look has found; one of a class serves all its students.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReleasedCell:
    """What the gradebook has of one cell.

    It has `source`, `locked` and `checksum` where the cell was released, `max_score` (in points) where it is graded.
    """

    name: str
    cell_type: str = ""
    source: str = ""
    locked: bool = False
    checksum: str | None = None
    max_score: float = 0.0


@dataclass(frozen=True)
class ReleasedNotebook:
    """A notebook of the gradebook, for reading; `kernelspec` is JSON.

    It has nbgrader's names for what nbgrader's steps ask a gradebook, or a notebook in it.
    """

    name: str
    kernelspec: str | None
    source_cells: tuple[ReleasedCell, ...]
    grade_cells: tuple[ReleasedCell, ...]
    solution_cells: tuple[ReleasedCell, ...]
    task_cells: tuple[ReleasedCell, ...]

    def __deepcopy__(self, memo: dict[int, Any]) -> ReleasedNotebook:
        """Itself, which nobody can change: nbconvert copies all that its steps are handed."""
        return self

    def find_notebook(self, notebook: str, assignment: str) -> ReleasedNotebook:
        """The notebook itself."""
        return self

    def find_source_cell(self, name: str, notebook: str, assignment: str) -> ReleasedCell:
        """A cell as it was released.

        Raises:
            MissingEntry: there is none of that name.
        """
        return _named(name, self.source_cells)

    def find_graded_cell(self, name: str, notebook: str, assignment: str) -> ReleasedCell:
        """A cell that earns points, or a task.

        Raises:
            MissingEntry: there is none of that name.
        """
        return _named(name, (*self.grade_cells, *self.task_cells))


def read_released(db_url: str, assignment: str, notebook: str) -> ReleasedNotebook:
    """A notebook of the gradebook.

    Raises:
        MissingEntry: it has none of that name.
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
