"""Match students with the rows of a platform's class list, and scale their grades to its points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from course.grading.classroom.roster import Table
from course.grading.gradebook.grades import Grade, StudentGrades
from course.problem import Problem
from course.syllabus import Topic

_Pair = tuple[int, str]
_Holder = TypeVar("_Holder", int, str)
_Named = TypeVar("_Named")


def match(
    table: Table,
    pupils: Sequence[StudentGrades],
    identities: Sequence[str],
    names: Sequence[str],
    numbers: Sequence[str] = (),
) -> Match:
    """Match rows with students: by an id or a whole email, else by the part before its @, else by a full name.

    Each kind of key is tried on all rows before the next kind is tried on the rows and pupils that are left. A key
    matches only if exactly one row and one pupil have it. If an id or whole email is ambiguous, no weaker key decides.

    Args:
        identities: the columns of ids and emails.
        names: the columns of full names, which count if they are unique in the file and in the gradebook.
        numbers: the columns of the platform's own ids, which may be other students' ids here: only names come later.

    Raises:
        Problem: some students have grades, but no row matches any student.
    """
    matching = _Matching(pupils)
    ids = {pupil.id: _keys((pupil.id, pupil.email)) for pupil in pupils}
    told = _values(table, identities)
    matching.tell(told, ids, final=True)
    matching.tell({number: _local_parts(keys) for number, keys in told.items()}, ids)
    matching.tell(_values(table, numbers), ids, final=True)
    called = {pupil.id: _keys((pupil.sortable_name, pupil.full_name)) for pupil in pupils}
    matching.tell(_unshared(_values(table, names)), _unshared(called))
    result = matching.result()
    if not (result.pupils or result.disputed) and any(pupil.grades for pupil in pupils):
        raise Problem(f"{table.path} has no row of a student in this gradebook. Export it from this class's course")
    return result


def _values(table: Table, columns: Sequence[str]) -> dict[int, set[str]]:
    return {number: _keys(row.get(column, "") for column in columns) for number, row in enumerate(table.rows)}


@dataclass(frozen=True)
class Match:
    """The student of each row, by the row's number; `disputed` are the ids of students with ambiguous rows."""

    pupils: dict[int, StudentGrades]
    disputed: frozenset[str] = frozenset()

    def of(self, number: int) -> dict[str, Grade]:
        """Return the grades that belong in a row; a row without a student has none."""
        return self.pupils[number].grades if number in self.pupils else {}


class _Matching:
    """The state of matching, with the rows and pupils left after each pass."""

    def __init__(self, pupils: Iterable[StudentGrades]) -> None:
        self._pupils = {pupil.id: pupil for pupil in pupils}
        self._found: dict[int, str] = {}
        self._disputed: set[str] = set()
        self._shut: set[int | str] = set()

    def tell(self, rows: Mapping[int, set[str]], pupils: Mapping[str, set[str]], *, final: bool = False) -> None:
        """Match rows and pupils by unshared keys; ambiguous ones are closed if `final`, else left for a later pass."""
        pairs, own = _pairs(self._open(rows), self._open(pupils))
        found = _alone(own)
        self._found.update(found)
        self._shut |= {*found.keys(), *found.values()}
        left = [(row, pupil) for row, pupil in pairs if not {row, pupil} & self._shut]
        self._disputed |= {pupil for _, pupil in left}
        if final:
            self._shut |= {one for pair in left for one in pair}

    def result(self) -> Match:
        found = {row: self._pupils[pupil] for row, pupil in sorted(self._found.items())}
        return Match(found, frozenset(self._disputed - set(self._found.values())))

    def _open(self, keys: Mapping[_Holder, set[str]]) -> dict[_Holder, set[str]]:
        return {one: own for one, own in keys.items() if one not in self._shut}


def called_like(topic: Topic, titles: Iterable[tuple[str, _Named]]) -> list[_Named]:
    """Return the things of a platform that are called like a topic, its folder's name first, out of titles and things.

    If some bear the name of the topic's folder, those with its other names do not count.
    """
    accepted = {name.casefold() for name in (topic.name, topic.title, topic.heading, f"0{topic.heading}")}
    plain = [(title.strip().casefold(), thing) for title, thing in titles]
    found = [thing for title, thing in plain if title == topic.folder.casefold()]
    return found or [thing for title, thing in plain if title in accepted]


def absent(pupils: Sequence[StudentGrades], match: Match, path: Path) -> list[str]:
    """Return notes on students with grades who are missing in the class list, or ambiguous."""
    known = {pupil.id for pupil in match.pupils.values()}
    left = [pupil.id for pupil in pupils if pupil.grades and pupil.id not in known]
    lost = [name for name in left if name not in match.disputed]
    disputed = [name for name in left if name in match.disputed]
    notes = [f"left out, because {path.name} does not have them: {', '.join(lost)}"] if lost else []
    notes += (
        [f"left out, because several rows of {path.name} could be theirs: {', '.join(disputed)}"] if disputed else []
    )
    return notes


def _keys(texts: Iterable[str]) -> set[str]:
    """Return texts as keys, without differences in case and blanks, and without empty ones."""
    return {" ".join(text.split()).casefold() for text in texts} - {""}


def _local_parts(keys: Iterable[str]) -> set[str]:
    return _keys(key.partition("@")[0] for key in keys if "@" in key)


def _holders(keys: Mapping[_Holder, set[str]]) -> dict[str, set[_Holder]]:
    holders: dict[str, set[_Holder]] = {}
    for one, own in keys.items():
        for key in own:
            holders.setdefault(key, set()).add(one)
    return holders


def _unshared(keys: Mapping[_Holder, set[str]]) -> dict[_Holder, set[str]]:
    """Return the keys without those that several holders share."""
    shared = {key for key, holders in _holders(keys).items() if len(holders) > 1}
    return {one: own - shared for one, own in keys.items()}


def _pairs(rows: Mapping[int, set[str]], pupils: Mapping[str, set[str]]) -> tuple[set[_Pair], set[_Pair]]:
    """Return the pairs of row and pupil with a common key, and the pairs with a key that no other has."""
    of_rows, of_pupils = _holders(rows), _holders(pupils)
    pairs: set[_Pair] = set()
    own: set[_Pair] = set()
    for key in of_rows.keys() & of_pupils.keys():
        sharing = {(row, pupil) for row in of_rows[key] for pupil in of_pupils[key]}
        pairs |= sharing
        own |= sharing if len(sharing) == 1 else set()
    return pairs, own


def _alone(pairs: Iterable[_Pair]) -> dict[int, str]:
    """Return the pairs whose row and pupil are in no other pair."""
    pairs = list(pairs)
    rows, pupils = Counter(row for row, _ in pairs), Counter(pupil for _, pupil in pairs)
    return {row: pupil for row, pupil in pairs if rows[row] == pupils[pupil] == 1}


@dataclass(frozen=True)
class Scale:
    """A scale from the `points` of a topic here to the `most` points of its assignment on a platform."""

    points: float
    most: float

    @property
    def is_other(self) -> bool:
        """Whether scaling changes grades. A topic of 0 points gives 0 on any scale."""
        return bool(self.points) and self.most != self.points

    def of(self, score: float) -> float:
        """Return the points on the platform for a score here."""
        return score * self.most / self.points if self.points else 0.0


def read_points(text: str, where: str) -> float:
    """Return the number of points in a cell, with a decimal point or comma; `where` names the cell in the error.

    Raises:
        Problem: the cell holds no number of points.
    """
    if re.fullmatch(r"\d+([.,]\d+)?", text.strip()) is None:
        raise Problem(f"{where} has {text!r} points. Write a plain number, such as 100")
    return float(text.strip().replace(",", "."))
