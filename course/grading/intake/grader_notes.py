"""Add and read the grader's notes in a notebook, which say what the grader added and moved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from course.grading.course_files.cells import METADATA
from course.grading.course_files.untouched import source_of
from course.grading.intake.untrusted import printable

Cell = Mapping[str, Any]

BEGINNING = "**Note of the grader.** "
"""The beginning of a cell that holds a note of the grader."""

ADDED, PLACE = "added", "place"
"""Keys in a cell's metadata: the grader added the cell, or its original place, counted without added cells."""

SHOWN = 40
"""The number of characters that are quoted of a cell."""


def note_cell(sentence: str, code: str = "") -> dict[str, Any]:
    """Return a text cell that says `sentence`, above `code` that is shown and not run."""
    shown = f"\n\n~~~~~python\n{code}\n~~~~~" if code else ""
    return added_cell("markdown", f"{BEGINNING}{sentence}.{shown}")


def added_cell(cell_type: str, source: str) -> dict[str, Any]:
    """Return a cell with this text, whose id is a hash of the text."""
    name = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    cell = {"cell_type": cell_type, "id": name, "metadata": {METADATA: {ADDED: True}}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})


def moved_from(place: int, cell: Cell) -> dict[str, Any]:
    """Return a cell whose metadata says at which place it was handed in."""
    return {**cell, "metadata": {**cell.get("metadata", {}), METADATA: {PLACE: place}}}


def is_added(cell: Cell) -> bool:
    """Return whether the grader added this cell."""
    return ADDED in _facts(cell)


def drop_claims(cell: MutableMapping[str, Any]) -> None:
    """Drop the grader's marks from a handed-in cell, because a student may have forged them."""
    cell["source"] = source_of(cell).removeprefix(BEGINNING)
    cell.get("metadata", {}).pop(METADATA, None)


def as_handed_in(cells: Iterable[Cell]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the cells that were handed in, in their order, and the texts of those that the grader added."""
    own: list[dict[str, Any]] = []
    moved: dict[int, dict[str, Any]] = {}
    added: list[str] = []
    for cell in cells:
        metadata = {key: value for key, value in cell.get("metadata", {}).items() if key != METADATA}
        if is_added(cell):
            added.append(source_of(cell))
        elif PLACE in (facts := _facts(cell)):
            moved[facts[PLACE]] = {**cell, "metadata": metadata}
        else:
            own.append({**cell, "metadata": metadata} if facts else dict(cell))
    for place in sorted(moved):
        own.insert(place, moved[place])
    return own, added


def notes_in(cells: Iterable[Cell]) -> Iterator[str]:
    """Yield the grader's notes in the notebook, each without its full stop."""
    for cell in filter(is_note, cells):
        yield source_of(cell).removeprefix(BEGINNING).partition("\n")[0].removesuffix(".")


def is_note(cell: Cell) -> bool:
    """Return whether this cell holds a note of the grader."""
    return source_of(cell).startswith(BEGINNING)


def quoted(source: str) -> str:
    """Return the beginning of a cell's text on one line, for a sentence."""
    text = printable(" ".join(source.split())).replace("`", "'")
    return f"`{text if len(text) <= SHOWN else f'{text[:SHOWN].rstrip()} …'}`"


def _facts(cell: Cell) -> Mapping[str, Any]:
    facts = cell.get("metadata", {}).get(METADATA)
    return facts if isinstance(facts, Mapping) else {}
