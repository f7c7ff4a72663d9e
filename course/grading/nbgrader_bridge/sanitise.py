"""Undo what students do to notebooks, in the steps `Repair`, `RestoreKernelspec` and `RestoreCells`.

`Mended` reads damaged or unusual files for nbgrader. `Sanitized` gives nbgrader a notebook that is sanitised already.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any, Literal

from nbconvert.exporters import Exporter, NotebookExporter
from nbformat import NotebookNode, from_dict
from nbformat.v4 import to_notebook
from nbformat.validator import iter_validate
from nbgrader.api import MissingEntry
from nbgrader.nbgraderformat import SCHEMA_VERSION
from nbgrader.preprocessors import NbGraderPreprocessor, OverwriteCells, OverwriteKernelspec
from traitlets import Unicode

from course.grading.course_files.cells import METADATA, grade_id, mend_line_ends
from course.grading.course_files.untouched import is_untouched, source_of
from course.grading.gradebook.released_notebook import ReleasedCell, ReleasedNotebook, read_released
from course.grading.intake.cell_names import bound_in
from course.grading.intake.grader_notes import drop_claims
from course.grading.intake.locked_cells import answered, cells_for, was_changed
from course.grading.intake.mending import drop_foreign_fields, read_mended
from course.grading.intake.moved_cells import Choice, choose, in_order, show_only
from course.grading.intake.untrusted import printable
from course.grading.nbgrader_bridge.given_out import texts_given_out
from course.problem import Problem

PUT_BACK = "\n\n*(This cell was missing and has been restored. The answer may be elsewhere in the notebook.)*"
"""The text added to a restored question: an unchanged answer gets zero from nbgrader, a changed one a manual grade."""


class Repair(NbGraderPreprocessor):
    """The first step of sanitising, which makes a notebook's graded cells match the gradebook.

    Of copies of a graded cell one stays graded (`choose` decides) and the others become ordinary cells. Deleted test
    cells are restored. Text that students wrote into locked cells is saved beside them. Metadata that no student's
    interface writes is dropped. A notebook whose graded cells all belong to another assignment is refused.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Repair `nb` in place."""
        with suppress(MissingEntry):  # nbgrader reports it itself
            self.repair(nb, _released(resources))
        return nb, resources

    def repair(self, nb: NotebookNode, notebook: ReleasedNotebook) -> None:
        """Make the cells of `nb` match the gradebook's `notebook`.

        Raises:
            Problem: `nb` belongs to another assignment.
        """
        for key in ("widgets", METADATA):
            nb.metadata.pop(key, None)
        _drop_misfits(nb)
        mend_line_ends(nb)
        released = {cell.name: cell for cell in notebook.source_cells}
        submitted = {grade_id(cell) for cell in nb.cells} - {""}
        if submitted and not submitted & released.keys():
            some = ", ".join(map(printable, sorted(submitted)[:3]))
            raise Problem(f"its graded cells ({some}) belong to another assignment. The right notebook is needed")
        answers = {cell.name for cell in notebook.solution_cells}
        choice = choose(nb.cells, answers, list(released), lambda cell: _is_blank(cell, released))
        written = [
            cell
            for name, index in choice.graded.items()
            if name in released and released[name].locked and was_changed(cell := nb.cells[index])
        ]
        for index, cell in enumerate(nb.cells):
            drop_claims(cell)
            self._repair_cell(index, cell, choice, released, notebook)
        self._restore(nb, notebook)
        if written:
            _save_written(nb, written, released, {cell.name for cell in notebook.grade_cells})

    def _repair_cell(
        self,
        index: int,
        cell: NotebookNode,
        choice: Choice,
        released: dict[str, ReleasedCell],
        notebook: ReleasedNotebook,
    ) -> None:
        if "nbgrader" not in cell.metadata:
            return
        name = grade_id(cell)
        if name in released and choice.graded[name] == index:
            cell.metadata.pop("tags", None)
            cell.metadata["nbgrader"] = NotebookNode(_metadata(name, released[name], notebook))
            return
        del cell.metadata["nbgrader"]
        if name in released:
            self.log.warning("Cell '%s' was copied, and cell %d is graded", name, choice.graded[name] + 1)
        if name in released and index in choice.blank:
            show_only(cell)

    def _restore(self, nb: NotebookNode, notebook: ReleasedNotebook) -> None:
        """Restore deleted test cells, each below the cell it followed, or else above the next released cell."""
        order = [cell.name for cell in notebook.source_cells]
        graded = {cell.name: cell for cell in notebook.grade_cells}
        sources = {cell.name: cell for cell in notebook.source_cells}
        solutions = {cell.name for cell in notebook.solution_cells}
        for position, name in enumerate(order):
            places = {grade_id(cell): index for index, cell in enumerate(nb.cells)}
            if name not in graded or name in places:
                continue
            self.log.warning("Cell '%s' was deleted and has been restored", name)
            cell = OverwriteCells(missing_cell_notification="").missing_cell_transform(
                sources[name], graded[name].max_score, is_solution=name in solutions
            )
            by_hand = name in solutions and sources[name].cell_type == "markdown"
            cell = from_dict({**cell, "source": sources[name].source + (PUT_BACK if by_hand else "")})
            if position and order[position - 1] in places:
                index = self.behind_training(nb, name, places[order[position - 1]] + 1)
            else:
                index = next((places[later] for later in order[position:] if later in places), len(nb.cells))
            if nb.nbformat_minor >= 5:
                cell.id = hashlib.sha256(name.encode()).hexdigest()[:16]
            nb.cells.insert(index, cell)

    @staticmethod
    def behind_training(nb: NotebookNode, name: str, index: int) -> int:
        """Return where to restore a task's check that could go to `index`: below a later cell that trains the task."""
        trains = re.compile(rf"\bfit\(\s*[\"']{re.escape(name)}[\"']")
        later = enumerate(nb.cells[index:], index)
        return next((at + 1 for at, cell in later if cell.cell_type == "code" and trains.search(cell.source)), index)


class RestoreKernelspec(OverwriteKernelspec):
    """nbgrader's `OverwriteKernelspec`, which sets a notebook's kernel, without opening the gradebook."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Give `nb` the kernel that it was released with."""
        kernelspec = json.loads(_released(resources).kernelspec or "null")
        if kernelspec:
            nb.metadata["kernelspec"] = kernelspec
        return nb, resources


class RestoreCells(OverwriteCells):
    """nbgrader's `OverwriteCells`, which restores locked cells, types and points, without a query for each cell.

    Afterwards a check that stands above a cell it needs is moved below that cell.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Restore the cells of `nb`."""
        about = resources["nbgrader"]
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.gradebook = _released(resources)
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        if self.add_missing_cells:
            nb, resources = self.add_missing_grade_cells(nb, resources)
            nb, resources = self.add_missing_task_cells(nb, resources)
        given = texts_given_out(self.config, self.assignment_id, self.notebook_id)
        solutions = {cell.name for cell in self.gradebook.solution_cells}
        answers = (bound_in(cell.source) for cell in self.gradebook.source_cells if cell.name in solutions)
        nb.cells = _as_cells(nb, in_order(nb.cells, given, set().union(*answers)))
        drop_foreign_fields(nb.cells)
        return nb, resources


class ReadMended(Exporter):
    """An exporter that reads a notebook's file with `read_mended`, and passes the notebook on."""

    def from_file(self, file_stream: Any, resources: Any = None, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Convert the notebook in an open file.

        Raises:
            Problem: the file is no notebook.
        """
        document, _ = read_mended(file_stream.buffer.read(), Path(file_stream.name).name)
        return self.from_notebook_node(to_notebook(document), resources=resources, **settings)


class Mended(ReadMended, NotebookExporter):
    """nbconvert's `NotebookExporter`, which also reads damaged or unusual files."""


class Sanitized(Mended):
    """An exporter that returns the known result of nbgrader's first pass, which sanitises, if it is given.

    nbgrader's second pass runs as usual.
    """

    text = Unicode(None, allow_none=True, config=True, help="The notebook's file as sanitising leaves it.")

    def from_filename(self, filename: str, resources: Any = None, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Return the known text the first time, and nbconvert's own result after that."""
        if self.text is None:
            return super().from_filename(filename, resources, **settings)
        text, self.text = self.text, None
        return f"{text}\n", self._init_resources(resources)


def _save_written(
    nb: NotebookNode, written: list[NotebookNode], released: dict[str, ReleasedCell], tests: set[str]
) -> None:
    """Save what was written into locked cells in new cells, above a test and below any other cell."""
    kept = answered(nb.cells)
    for cell in written:
        name = grade_id(cell)
        place = next(index for index, one in enumerate(nb.cells) if one is cell)
        side: Literal["above", "below"] = "above" if name in tests else "below"
        new = cells_for(cell | {"cell_type": released[name].cell_type}, cell.source, released[name].source, kept, side)
        place += side == "below"
        nb.cells[place:place] = _as_cells(nb, new)


def _as_cells(nb: NotebookNode, cells: Iterable[dict[str, Any]]) -> list[NotebookNode]:
    """Return cells as nbformat's nodes, with ids only if the notebook's format has ids."""
    without = "id" if nb.nbformat_minor < 5 else ""
    return [
        cell
        if isinstance(cell, NotebookNode)
        else from_dict({field: value for field, value in cell.items() if field != without})
        for cell in cells
    ]


def _is_blank(cell: Mapping[str, Any], released: dict[str, ReleasedCell]) -> bool:
    """Return whether a cell still holds its released text, that of now or of when the student got the notebook."""
    known = released.get(grade_id(cell))
    return is_untouched(cell) or (known is not None and source_of(cell).strip() == known.source.strip())


def _drop_misfits(nb: NotebookNode) -> None:
    """Drop metadata that violates the notebook schema, because nbconvert would refuse the notebook.

    nbformat reports one fault of a cell at a time, so this repeats until none is left.
    """
    while misfits := {_metadata_key(list(error.absolute_path)) for error in iter_validate(nb, relax_add_props=True)} - {
        ()
    }:
        for *place, key in misfits:
            del reduce(getitem, place, nb)[key]


def _metadata_key(path: list[Any]) -> tuple[Any, ...]:
    """Return the path up to the metadata key that contains `path`, or () outside metadata."""
    end = path.index("metadata") + 2 if "metadata" in path else len(path) + 1
    return tuple(path[:end]) if len(path) >= end else ()


def _released(resources: dict[str, Any]) -> ReleasedNotebook:
    """Return the notebook as released, which the first step caches in `resources` for the later steps."""
    about = resources["nbgrader"]
    if "released" not in about:
        about["released"] = read_released(about["db_url"], about["assignment"], about["notebook"])
    return about["released"]


def _metadata(name: str, source: ReleasedCell, notebook: ReleasedNotebook) -> dict[str, Any]:
    """Return nbgrader's metadata of a released cell, from the gradebook alone."""
    points = {cell.name: cell.max_score for cell in (*notebook.grade_cells, *notebook.task_cells)}
    metadata = {
        "grade_id": name,
        "grade": name in {cell.name for cell in notebook.grade_cells},
        "solution": name in {cell.name for cell in notebook.solution_cells},
        "task": name in {cell.name for cell in notebook.task_cells},
        "locked": bool(source.locked),
        "schema_version": SCHEMA_VERSION,
        "cell_type": source.cell_type,
        "checksum": source.checksum,
    }
    return {**metadata, "points": points[name]} if name in points else metadata
