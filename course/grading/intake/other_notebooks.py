"""Find answers in notebooks beside the graded one, such as `T-Copy1.ipynb`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.grading.cells import grade_id
from course.grading.intake.untouched import is_untouched, marks_of, source_of
from course.grading.intake.untrusted import everything, parse_notebook, printable
from course.grading.problem import Problem

Cell = Mapping[str, Any]

MOST_NOTEBOOKS = 50
"""The most notebooks beside the graded one that are read, in the order of their names."""


@dataclass(frozen=True)
class Others:
    """The notebooks beside the graded one that answer the same exercises.

    `is_blank` says whether the graded notebook holds no answer. `answered` has the number of answers by notebook, those
    with most answers first: all answers if the graded notebook is blank, else those that differ from its own.
    """

    is_blank: bool
    answered: dict[Path, int]


def look_around(path: Path, cells: Sequence[Cell], folder: Path) -> Others:
    """Find the same answers in all notebooks below `folder` but the one at `path`, which has these `cells`."""
    asked = {grade_id(cell) for cell in cells if marks_of(cell).get("solution")}
    own = _answers(cells, asked)
    found: dict[Path, int] = {}
    for other in _notebooks(folder, path) if asked else ():
        theirs = _answers(_cells(other), asked)
        if new := [name for name, text in theirs.items() if own.get(name) != text]:
            found[other] = len(new)
    ordered = sorted(found, key=lambda other: (-found[other], str(other)))
    return Others(bool(asked) and not own, {other: found[other] for other in ordered})


def notes_on_others(path: Path, cells: Sequence[Cell]) -> list[str]:
    """Return a note that names the notebooks beside the graded one with answers, or an empty list."""
    others = look_around(path, cells, path.parent)
    if not others.answered:
        return []
    named = name_all(others.answered, path.parent)
    verb = "holds" if len(others.answered) == 1 else "hold"
    if others.is_blank:
        told = f"{path.name} is graded, and none of its answers was changed, but {named} {verb} changed answers"
        return [f"{told}. If that is the submission, rename it to {path.name}"]
    return [f"{path.name} is graded, but {named} beside it {verb} other answers"]


def name_all(notebooks: Collection[Path], folder: Path, most: int = 3) -> str:
    """Return the names of some notebooks as seen from `folder`, for a sentence."""
    names = [f"{printable(path.relative_to(folder).as_posix()):.80}" for path in notebooks]
    return ", ".join(names[:most]) + (" and others" if len(names) > most else "")


def _notebooks(folder: Path, graded: Path) -> list[Path]:
    """Return the other notebooks below a folder, without links and the copies that Jupyter or a Mac keeps."""
    found = []
    for path in everything(folder, deepest=3):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
        if path.suffix == ".ipynb" and not hidden and path != graded and path.is_file() and not path.is_symlink():
            found.append(path)
    return found[:MOST_NOTEBOOKS]


def _cells(path: Path) -> list[Cell]:
    """Return the cells of a notebook, or an empty list if it cannot be read."""
    try:
        cells = parse_notebook(path.read_bytes(), path.name).get("cells")
    except (Problem, OSError):
        return []
    if not isinstance(cells, list):
        return []
    return [cell for cell in cells if isinstance(cell, dict) and isinstance(cell.get("metadata"), dict)]


def _answers(cells: Sequence[Cell], asked: Collection[str]) -> dict[str, str]:
    """Return the changed answers of a notebook, by the names of their cells."""
    return {
        name: source_of(cell).strip()
        for cell in cells
        if (name := grade_id(cell)) in asked and marks_of(cell).get("solution") and not is_untouched(cell)
    }
