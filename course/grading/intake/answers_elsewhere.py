"""Find answers that a student wrote into a new cell beside the untouched cell that was meant for them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from course.grading.cells import grade_id
from course.grading.intake.copied_cells import choose_by_marks, is_shown_only
from course.grading.intake.grader_notes import is_note
from course.grading.intake.untouched import is_untouched, marks_of, source_of
from course.source import parsed

Cell = Mapping[str, Any]


@cache
def given_sources(path: Path, _changed: int) -> frozenset[str]:
    """Return the texts of a notebook's cells that hold no answer; `_changed`, the file's mtime, is a cache key."""
    from course.grading.cells import read_notebook

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
