"""Choose which of several copies of a cell is graded: of an answer, the last one that the student changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from course.grading.cells import grade_id
from course.grading.intake.untouched import is_untouched, marks_of, source_of
from course.grading.intake.untrusted import printable

Cell = Mapping[str, Any]

NOT_RUN = "*(This copy is untouched and was not run, because another copy holds the answer.)*"
"""The text above a blank copy of a cell that was answered in another copy."""


@dataclass(frozen=True)
class Choice:
    """The choice of graded cells in a notebook: `graded` has the index of the cell that counts, by its name.

    `blank` are the indices of untouched copies of an answer that was changed in another copy.
    """

    graded: dict[str, int]
    blank: frozenset[int]


def choose(
    cells: Sequence[Cell],
    answers: Collection[str],
    order: Sequence[str],
    untouched: Callable[[Cell], bool] = is_untouched,
) -> Choice:
    """Choose the graded copy of each marked cell.

    Of an answer this is the last changed copy, or the last copy if none was changed. Of any other cell it is the last
    copy, except that a test above a blank copy of its answer is graded there, because the blank copy has its own tests.

    Args:
        cells: the cells of a notebook.
        answers: the names of the cells that students write in.
        order: the names of all marked cells, in the order of the release.
        untouched: whether a cell is as it was released.
    """
    places: dict[str, list[int]] = {}
    for index, cell in enumerate(cells):
        if name := grade_id(cell):
            places.setdefault(name, []).append(index)
    graded: dict[str, int] = {}
    blank: set[int] = set()
    for name, copies in places.items():
        changed = [index for index in copies if not untouched(cells[index])] if len(copies) > 1 else []
        graded[name] = changed[-1] if name in answers and changed else copies[-1]
        if name in answers and changed:
            blank.update(index for index in copies if index not in changed)
    answer = ""
    for name in order:
        answer = name if name in answers else answer
        if name in places and name not in answers and answer in graded:
            graded[name] = _test(places[name], graded[answer], [i for i in places[answer] if i in blank])
    return Choice(graded, frozenset(blank))


def _test(copies: Sequence[int], answer: int, blank: Sequence[int]) -> int:
    """Return which copy of a test belongs to the answer at the index `answer`, whose untouched copies are `blank`."""
    end = next((index for index in blank if index > answer), None)
    between = [index for index in copies if end is not None and answer < index < end]
    return between[-1] if between else copies[-1]


def show_only(cell: MutableMapping[str, Any]) -> None:
    """Turn a blank code copy into a text cell, because below the answer it would define the same names again."""
    if cell["cell_type"] != "code":
        return
    cell["cell_type"], cell["source"] = "markdown", f"{NOT_RUN}\n\n~~~~~python\n{cell['source']}\n~~~~~"
    for key in ("outputs", "execution_count"):
        cell.pop(key, None)


def is_shown_only(cell: Cell) -> bool:
    """Return whether `show_only` made this cell."""
    return source_of(cell).startswith(NOT_RUN)


def choose_by_marks(cells: Sequence[Cell]) -> Choice:
    """Choose among copies by the notebook's own metadata, without a gradebook."""
    names = [name for cell in cells if (name := grade_id(cell))]
    return choose(cells, _answers(cells), list(dict.fromkeys(names)))


def _answers(cells: Sequence[Cell]) -> set[str]:
    return {grade_id(cell) for cell in cells if marks_of(cell).get("solution")}


def notes_on_copies(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a note on which cells of a submission were copied, and which copy of each is graded."""
    times = Counter(name for cell in cells if (name := grade_id(cell)))
    if max(times.values(), default=0) < 2:
        return
    answers, graded = _answers(cells), choose_by_marks(cells).graded
    copied = sorted((name for name, count in times.items() if count > 1), key=lambda name: graded[name])
    changed = [name for name in copied if name in answers and not is_untouched(cells[graded[name]])]
    shown = ", ".join(f"{printable(name)} (cell {graded[name] + 1})" for name in changed or copied)
    yield f"cells were copied, and the last {'changed ' if changed else ''}copy of each is graded: {shown}"
