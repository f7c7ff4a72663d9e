"""Find checks that moved above the cells they need, and put them below those cells.

In its author's notebook such a check passes, because the kernel remembers earlier runs. Run from top to bottom it fails
with a NameError. A check is put right below the cell that defines the missing name, and so are the cells that the check
depends on, such as the cell that trains a model.
"""

from __future__ import annotations

import builtins
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from course.grading.course_files.cells import grade_id
from course.grading.course_files.untouched import is_untouched, marks_of, source_of
from course.grading.intake.cell_names import Part, read_parts, read_whole
from course.grading.intake.grader_notes import is_added, moved_from, note_cell, quoted
from course.grading.intake.untrusted import printable
from course.source import is_stub

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


SUPPLIED = frozenset({*dir(builtins), "check", "display"})
"""Names that no cell needs to define."""


@dataclass(frozen=True)
class Late:
    """Cells that stand above the cell at the index `below`, although it alone defines the `names` that they need."""

    below: int
    cells: tuple[int, ...]
    names: tuple[str, ...]


def find_late(cells: Sequence[Cell], given: Collection[str] = (), answers: Collection[str] = ()) -> list[Late]:
    """Return which checks stand above the definitions that they need, with the cells in between that they depend on.

    An untouched answer cell defines nothing, and a released cell defines no answer.

    Args:
        given: the texts of the released cells.
        answers: names of answers, in addition to those that the cells show.
    """
    choice = choose_by_marks(cells)
    sources = {
        index: source_of(cell)
        for index, cell in enumerate(cells)
        if cell.get("cell_type") == "code" and index not in choice.blank
    }
    checks = {index for index in choice.graded.values() if index in sources and _is_check(cells[index])}
    late: list[Late] = []
    for read in (read_whole, read_parts):  # first whole cells, which is fast but overestimates needs
        code = {index: parts for index, source in sources.items() if (parts := read(source)) is not None}
        if not checks or len(code) < len(sources):
            return []
        order = _Order(code, _places(cells, code, given, answers), checks)
        late = order.late()
        if not order.has_waited:
            return []
    return late


def in_order(cells: Sequence[Any], given: Collection[str] = (), answers: Collection[str] = ()) -> list[Any]:
    """Return the cells with each check below the cells it needs, and a note above the moved cells."""
    late = find_late(cells, given, answers)
    moved = {index for group in late for index in group.cells}
    places = _places_handed_in(cells)
    ordered: list[Any] = []
    for index, cell in enumerate(cells):
        if index not in moved:
            ordered.append(cell)
        for group in (one for one in late if one.below == index):
            they = "it was" if len(group.cells) == 1 else "they were"
            ordered.append(note_cell(f"{describe(cells, group)}, so {they} run after that"))
            ordered += [moved_from(places[one], cells[one]) for one in group.cells]
    return ordered


def describe(cells: Sequence[Cell], late: Late) -> str:
    """Return a sentence on which cells stand too far up, and which names they need, with places as handed in."""
    told = [_named(cells, index) for index in late.cells]
    who = f"{', '.join(told[:-1])} and {told[-1]}" if told[1:] else told[0]
    need, them = ("need", "them") if told[1:] else ("needs", "it")
    where = f"{_named(cells, late.below)} ({quoted(source_of(cells[late.below]))})"
    return f"{who} {need} {', '.join(late.names)}, which {where} defines below {them}"


def _places_handed_in(cells: Sequence[Cell]) -> list[int]:
    """Return the place of each cell as handed in; a cell that the grader added has the place of the cell below."""
    return [*accumulate((not is_added(cell) for cell in cells), initial=0)]


def _named(cells: Sequence[Cell], index: int) -> str:
    cell = f"cell {_places_handed_in(cells)[index] + 1}"
    return f"the check of {printable(grade_id(cells[index]))} ({cell})" if _is_check(cells[index]) else cell


def _is_check(cell: Cell) -> bool:
    marks = marks_of(cell)
    return bool(marks.get("grade")) and not marks.get("solution")


def _places(
    cells: Sequence[Cell], code: Mapping[int, tuple[Part, ...]], given: Collection[str], answers: Collection[str]
) -> dict[str, list[int]]:
    """Return the indices of the cells that define each name."""
    bound = {index: {name for part in parts for name in part.binds} for index, parts in code.items()}
    marked = {index for index in code if marks_of(cells[index]).get("solution")}
    asked = {*answers, *map(grade_id, cells)}.union(*(bound[index] for index in marked))
    places: dict[str, list[int]] = {}
    for index, names in bound.items():
        cell = cells[index]
        is_blank = (
            is_untouched(cell) or is_stub(source_of(cell)) if index in marked else source_of(cell).strip() in given
        )
        for name in names - asked if is_blank else names:
            places.setdefault(name, []).append(index)
    return places


class _Order:
    """A simulated run of the cells, in which cells wait until the names they need are defined."""

    def __init__(
        self, code: Mapping[int, tuple[Part, ...]], places: Mapping[str, Sequence[int]], checks: Collection[int]
    ) -> None:
        self.code, self.places = code, places
        self.may_wait = {*checks, *self._reached(checks)}
        self.bound: dict[str, Part] = {}
        self.ran: set[int] = set()
        self.waiting: dict[int, str] = {}
        self.has_waited = False

    def late(self) -> list[Late]:
        """Return the cells that waited, by the cell they waited for, or an empty list if cells depend on each other."""
        found = []
        for index in self.code:
            if index in self.may_wait and (name := self._lacks(index)):
                self.waiting[index], self.has_waited = name, True
                continue
            self._run(index)
            if released := dict(self._released()):
                found.append(Late(index, tuple(released), self._names(index, released)))
        return [] if self.waiting else found

    def _names(self, index: int, released: Mapping[int, str]) -> tuple[str, ...]:
        """Return the names that the released cells needed from the cell at `index`, and not from one another."""
        return tuple(sorted({name for name in released.values() if index in self.places[name]}))

    def _released(self) -> Iterator[tuple[int, str]]:
        """Run the waiting cells that now have all names, and yield each with the name it waited for last."""
        while ready := next((one for one in self.waiting if not self._still_lacks(one)), None):
            yield ready, self.waiting.pop(ready)
            self._run(ready)

    def _still_lacks(self, index: int) -> bool:
        if self.waiting[index] not in self.bound:
            return True
        name = self._lacks(index)
        self.waiting[index] = name or self.waiting[index]
        return bool(name)

    def _run(self, index: int) -> None:
        self.ran.add(index)
        for part in self.code[index]:
            self.bound |= {name: part for name in part.binds if index in self.places.get(name, ())}

    def _lacks(self, index: int) -> str:
        """Return a name that the cell needs and that only cells not yet run define, or ""."""
        parts = self.code[index]
        own = {name: part for part in parts for name in part.binds}
        asked = deque((name, not part.defines) for part in parts for name in sorted(part.at_once))
        seen = set(asked)
        while asked:
            name, deep = asked.popleft()
            part = own.get(name) or self.bound.get(name)
            if part is None and name not in SUPPLIED and self._is_defined_later(name, index):
                return name
            more = sorted(part.at_once | part.later) if part is not None and deep else ()
            asked.extend((one, True) for one in more if (one, True) not in seen)
            seen.update((one, True) for one in more)
        return ""

    def _is_defined_later(self, name: str, index: int) -> bool:
        return any(place not in self.ran and place != index for place in self.places.get(name, ()))

    def _reached(self, checks: Collection[int]) -> set[int]:
        """Return the cells that define names which the checks need, directly or indirectly."""
        reached: set[int] = set()
        more = set(checks)
        while more:
            parts = [part for index in more for part in self.code[index]]
            names = {name for part in parts for name in part.at_once | part.later}
            more = {index for name in names for index in self.places.get(name, ())} - reached
            reached |= more
        return reached
