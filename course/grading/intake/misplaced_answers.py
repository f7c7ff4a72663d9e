"""Find answers outside their cell: in a new cell beside it, or in another notebook such as `T-Copy1.ipynb`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course.grading.course_files.cells import grade_id
from course.grading.course_files.untouched import is_untouched, marks_of, source_of
from course.grading.intake.grader_notes import is_note
from course.grading.intake.moved_cells import choose_by_marks, is_shown_only
from course.grading.intake.untrusted import everything, parse_notebook, printable
from course.problem import Problem
from course.source import parsed

Cell = Mapping[str, Any]


@cache
def given_sources(path: Path, _changed: int) -> frozenset[str]:
    """Return the texts of a notebook's cells that hold no answer; `_changed`, the file's mtime, is a cache key."""
    from course.grading.course_files.cells import read_notebook

    cells = read_notebook(path.read_bytes()).cells
    return frozenset(cell.source.strip() for cell in cells if not marks_of(cell).get("solution"))


def cells_beside(cells: Sequence[Cell], index: int, given: Collection[str]) -> list[int]:
    """Return the indices of the student's own cells around the marked cell at `index`, between its marked neighbours.

    Beside a question only text counts, such as a text cell, or a code cell that holds no code. Beside a code cell
    everything counts.

    Args:
        given: the texts of the released cells, which are not the student's.
    """
    marked = [place for place, cell in enumerate(cells) if grade_id(cell)]
    begin = max((place + 1 for place in marked if place < index), default=0)
    end = min((place for place in marked if place > index), default=len(cells))
    blank = source_of(cells[index]).strip()

    def is_new(cell: Cell) -> bool:
        text = source_of(cell).strip()
        known = not text or text == blank or text in given or is_shown_only(cell) or is_note(cell)
        return not known and (is_code(cells[index]) or not is_code(cell) or _is_prose(text))

    return [place for place in (*range(index + 1, end), *range(begin, index)) if is_new(cells[place])]


def is_code(cell: Cell) -> bool:
    """Return whether a cell is a code cell."""
    return cell.get("cell_type") == "code"


def _is_prose(text: str) -> bool:
    """Return whether a code cell holds text: comments, quoted text, or something other than Python."""
    tree = parsed(text)
    if tree is None:
        return True
    return all(isinstance(node, ast.Expr) and _is_text(node.value) for node in tree.body)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def note_on(cells: Sequence[Cell], places: Sequence[int]) -> str:
    """Return a sentence that says where the answer to an untouched question may be found."""
    beginning = " ".join(source_of(cells[places[0]]).split())
    shown = beginning if len(beginning) <= 40 else f"{beginning[:40].rstrip()} …"
    where = f"cell {places[0] + 1} ({shown!r})" + (f" and {len(places) - 1} more" if places[1:] else "")
    return f"The cell for the answer is untouched, but {where} beside it is new and may hold the answer."


def shadowed(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield which untouched cells run below the student's own definition of the same name, and so replace it."""
    blank = choose_by_marks(cells).blank
    stubs = [
        index
        for index, cell in enumerate(cells)
        if is_code(cell) and marks_of(cell).get("solution") and index not in blank and is_untouched(cell)
    ]
    plain = [(index, cell) for index, cell in enumerate(cells) if stubs and is_code(cell) and not grade_id(cell)]
    last = {name: index for index, cell in plain for name in _defined(source_of(cell))}
    for index in stubs:
        for name in sorted(_defined(source_of(cells[index])) & last.keys()):
            if last[name] < index:
                yield (
                    f"cell {last[name] + 1} defines {name}, but the untouched cell {index + 1} below it defines {name} "
                    "again and replaces it"
                )


def _defined(source: str) -> set[str]:
    """Return the functions and classes that a cell defines."""
    tree = parsed(source)
    return {node.name for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


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
