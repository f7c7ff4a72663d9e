"""What the grader adds to a submission and moves in it, and the sentences that say so in the notebook."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from course.grading.cells import METADATA
from course.grading.intake.untouched import source_of
from course.grading.intake.untrusted import printable

Cell = Mapping[str, Any]

BEGINNING = "**Note of the grader.** "
"""How a cell begins in which the grader says something."""

ADDED, PLACE = "added", "place"
"""In a cell's metadata: that the grader added it, or at which place it was handed in, counted without those."""

SHOWN = 40
"""Characters that are quoted of a cell."""


def note_cell(sentence: str, code: str = "") -> dict[str, Any]:
    """Return a text cell that says `sentence`, above `code` that is shown and not run."""
    shown = f"\n\n~~~~~python\n{code}\n~~~~~" if code else ""
    return added_cell("markdown", f"{BEGINNING}{sentence}.{shown}")


def added_cell(cell_type: str, source: str) -> dict[str, Any]:
    """Return a cell of that text, with an id that is the same whenever its text is."""
    name = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    cell = {"cell_type": cell_type, "id": name, "metadata": {METADATA: {ADDED: True}}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})


def moved_from(place: int, cell: Cell) -> dict[str, Any]:
    """Return a cell that says in its metadata at which place it was handed in."""
    return {**cell, "metadata": {**cell.get("metadata", {}), METADATA: {PLACE: place}}}


def is_added(cell: Cell) -> bool:
    """Whether the grader added this cell."""
    return ADDED in _facts(cell)


def drop_claims(cell: MutableMapping[str, Any]) -> None:
    """Drop what only the grader says of a cell, and a student may have written."""
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
    """Yield what the grader says in the notebook, each sentence without its full stop."""
    for cell in filter(is_note, cells):
        yield source_of(cell).removeprefix(BEGINNING).partition("\n")[0].removesuffix(".")


def is_note(cell: Cell) -> bool:
    """Whether the grader says something in this cell."""
    return source_of(cell).startswith(BEGINNING)


def quoted(source: str) -> str:
    """The beginning of a cell's text on one line, for a sentence."""
    text = printable(" ".join(source.split())).replace("`", "'")
    return f"`{text if len(text) <= SHOWN else f'{text[:SHOWN].rstrip()} …'}`"


def _facts(cell: Cell) -> Mapping[str, Any]:
    facts = cell.get("metadata", {}).get(METADATA)
    return facts if isinstance(facts, Mapping) else {}
