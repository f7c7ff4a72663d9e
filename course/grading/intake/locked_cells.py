"""Save what a student wrote into a locked cell, which grading restores; VS Code and Colab let people write there.

Code beside the released code is run in a cell of its own, as if the student had put it there. Code that changes the
released code, or an answer that has its own cell, is shown and not run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

from course.grading.course_files.cells import checks, grade_id
from course.grading.course_files.untouched import is_untouched, marks_of, source_of
from course.grading.intake.cell_names import bound_in
from course.grading.intake.grader_notes import added_cell, note_cell, notes_in, quoted
from course.grading.intake.untrusted import printable
from course.source import UNREADABLE, is_stub, parsed

Cell = Mapping[str, Any]

RESTORED = "its locked cell was restored, and what"
LEFT = re.compile(rf"(\S+): {RESTORED} had been changed in it .* was not run")


class Written(NamedTuple):
    """What a student added to a locked cell: code to be `run`, and code that is `left` out."""

    run: str
    left: str


def written_in(source: str, released: str, name: str, kept: Collection[str] = ()) -> Written:
    """Return what a student wrote into the locked code cell `name`, which grading restores.

    Args:
        kept: names that this code may not bind, because answers with their own cells bind them.
    """
    try:
        return _split(source, _statements(source), released, name, {*kept, *bound_in(released)})
    except UNREADABLE:
        return Written("", _new(source.split("\n"), released))


def _split(source: str, statements: Sequence[ast.stmt], released: str, name: str, kept: Set[str]) -> Written:
    lines, given = source.split("\n"), {ast.dump(statement) for statement in _statements(released)}
    ends = [0, *(statement.end_lineno or 0 for statement in statements)]
    begins = [*map(_first_line, statements), len(lines)]
    run: list[str] = lines[: begins[0]]
    left: list[str] = []
    for place, statement in enumerate(statements):
        first, last, code = begins[place], ends[place + 1], ast.unparse(statement)
        alone = ends[place] <= first and last <= begins[place + 1]
        if ast.dump(statement) not in given:
            changes = checks(code, name) or not kept.isdisjoint(bound_in(code))
            (left if changes else run).extend(lines[first:last] if alone else [code])
        run += lines[last : begins[place + 1]]
    return Written(_new(run, released) and "\n".join(run).strip("\n"), "\n".join(left))


def cells_for(
    cell: Cell, source: str, released: str, kept: Collection[str], where: Literal["above", "below"]
) -> list[dict[str, Any]]:
    """Return the cells that save what `source` has beyond the `released` text of a locked cell.

    Args:
        cell: the locked cell.
        where: on which side of it they are put.
    """
    name = grade_id(cell)
    if cell.get("cell_type") != "code":
        new = _new(source.split("\n"), released)
        told = f"{name}: {RESTORED} was written into it ({quoted(new)}) stands {where} it"
        return [note_cell(told), added_cell("markdown", new)] if new else []
    run, left = written_in(source, released, name, kept)
    found: list[dict[str, Any]] = []
    if left:
        found.append(note_cell(f"{name}: {RESTORED} had been changed in it ({quoted(left)}) was not run", left))
    if run:
        told = f"{name}: {RESTORED} was written into it ({quoted(run)}) was run {where} it"
        found += [note_cell(told), added_cell("code", run)]
    return found


def was_changed(cell: Cell) -> bool:
    """Return whether a locked cell was changed since its release; without a checksum, only a check's text can tell."""
    return not is_untouched(cell) and ("checksum" in marks_of(cell) or checks(source_of(cell), grade_id(cell)))


def answered(cells: Iterable[Cell]) -> set[str]:
    """Return the names that answer cells define, where they were changed."""
    written = (
        source_of(cell)
        for cell in cells
        if marks_of(cell).get("solution") and cell.get("cell_type") == "code" and not is_untouched(cell)
    )
    return {name for source in written if not is_stub(source) for name in bound_in(source)}


def left_out(cells: Iterable[Cell]) -> set[str]:
    """Return the names of the locked cells that had student code which was not run."""
    return {found[1] for note in notes_in(cells) if (found := LEFT.fullmatch(note))}


def written_in_locked(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield which locked cells were written in, as far as the notebook alone shows."""
    for index, cell in enumerate(cells):
        marks, name, source = marks_of(cell), grade_id(cell), source_of(cell)
        locked = name and not marks.get("solution") and (marks.get("locked") or marks.get("grade"))
        if not locked or not was_changed(cell):
            continue
        released = "\n".join(line for line in source.split("\n") if checks(line, name))
        if not released or any(written_in(source, released, name)):
            yield (
                f"{printable(name)}: you wrote into its locked cell (cell {index + 1}), which grading restores. "
                "Move what you wrote into a cell of your own above it"
            )


def _new(lines: Iterable[str], released: str) -> str:
    """Return the lines that were not released, without blank lines and commented-out released lines."""

    def text(line: str) -> str:
        return line.strip("# \t")

    known = {"", *map(text, released.split("\n"))}
    return "\n".join(line for line in lines if text(line) not in known)


def _statements(source: str) -> list[ast.stmt]:
    """Return the statements of a cell.

    Raises:
        SyntaxError: the cell is not Python.
    """
    module = parsed(source)
    if module is None:
        raise SyntaxError
    return module.body


def _first_line(statement: ast.stmt) -> int:
    """Return the line at which a statement begins, counted from 0, its decorators included."""
    return min(one.lineno for one in (statement, *getattr(statement, "decorator_list", ()))) - 1
