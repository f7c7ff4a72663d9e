"""A sheet with questions about one student's own code, and the choice of the questions on it."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from course.questions import Question

MOST_EACH = 2
"""The most questions about one exercise on a sheet."""

TRIES = 400
"""Sheets that are drawn for a student, of which the best one is taken."""

MOST_ROWS = 150
"""Rows of text and code that fit onto three pages, with room to spare."""

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Signs of a sheet's number, without those that look like others on paper."""

FIRST_SIGNS = ALPHABET[10:]
"""Signs with which it begins, so that no spreadsheet program takes a number for a date."""

Pool = Mapping[str, Sequence[Question]]
"""The questions about a student's passing exercises, by exercise and in the order of the notebook."""


@dataclass(frozen=True)
class Asked:
    """A question on a sheet, and the exercise whose answer it is about."""

    exercise: str
    question: Question

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what two questions have in common that ask the same, in whatever order their choices stand."""
        return self.exercise, self.question.code, self.question.text

    @property
    def rows(self) -> int:
        """Return about how many rows of a page it takes, with its code."""
        texts = (self.question.code, self.question.text, *(choice.text for choice in self.question.choices))
        return 3 + sum(text.count("\n") + 1 for text in texts)


@dataclass(frozen=True)
class Sheet:
    """The questions for one student. The `number` is printed on the sheet, and no two sheets of a topic share one.

    `code` is a digest of the code that they are about, and `most` the number of questions that were wanted.
    """

    number: str
    student: str
    asked: tuple[Asked, ...]
    code: str = ""
    most: int = 0

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for `from_plain`."""
        asked = [[one.exercise, one.question.to_plain()] for one in self.asked]
        return {**vars(self), "asked": asked}

    @classmethod
    def from_plain(cls, plain: Any) -> Sheet:
        """Return the sheet that `to_plain` wrote.

        Raises:
            KeyError, TypeError, ValueError: it wrote no such thing.
        """
        asked = tuple(Asked(str(exercise), Question.from_plain(one)) for exercise, one in plain["asked"])
        number, student, code = (str(plain[name]) for name in ("number", "student", "code"))
        return cls(number, student, asked, code, int(plain["most"]))

    def is_of(self, code: str, passing: Collection[str], most: int) -> bool:
        """Return whether the code is still the same and passes, and so many questions are wanted."""
        return (self.code, self.most) == (code, most) and all(one.exercise in passing for one in self.asked)


class Given:
    """Which questions stand on sheets already, because neighbours with the same code should get other ones.

    Args:
        sheets: those of this round.
        earlier: those of other rounds, whose questions a student should not get again.
    """

    def __init__(self, sheets: Iterable[Sheet], earlier: Iterable[Sheet] = ()) -> None:
        self._pairs: Counter[frozenset[object]] = Counter()
        self._had: defaultdict[str, set[object]] = defaultdict(set)
        for sheet in sheets:
            self.add(sheet)
        for sheet in earlier:
            self._had[sheet.student].update(one.identity for one in sheet.asked)

    def add(self, sheet: Sheet) -> None:
        """Remember the questions of a sheet."""
        self._pairs.update(_pairs(sheet.asked))
        self._had[sheet.student].update(one.identity for one in sheet.asked)

    def overlap(self, asked: Sequence[Asked]) -> int:
        """Return how many pairs of these questions stand together on another sheet."""
        return sum(self._pairs[pair] > 0 for pair in _pairs(asked))

    def repeated(self, student: str, asked: Iterable[Asked]) -> int:
        """Return how many of these questions the student has had before."""
        return sum(one.identity in self._had[student] for one in asked)


def _pairs(asked: Iterable[Asked]) -> list[frozenset[object]]:
    return [frozenset(pair) for pair in combinations([one.identity for one in asked], 2)]


def draw(pool: Pool, most: int, student: str, given: Given, chance: str) -> tuple[Asked, ...]:
    """Return the questions of a sheet, each about another exercise if there are enough, in the notebook's order.

    Two sheets share at most one question as long as that is possible. Nobody gets a question twice. Kinds differ, the
    sheet is short, and of each exercise the first questions are preferred, which are the best ones.
    """

    def faults(asked: tuple[Asked, ...]) -> float:
        kinds = len(asked) - len({one.question.kind for one in asked})
        place = sum(pool[one.exercise].index(one.question) for one in asked)
        long = max(0, sum(one.rows for one in asked) - MOST_ROWS)
        repeated = given.repeated(student, asked)
        return 100 * given.overlap(asked) + 10 * repeated + 2 * kinds + 0.3 * place + 0.2 * long

    rng = random.Random(chance)  # noqa: S311 - `chance` comes from the class's secret
    best = min((_drawn(pool, most, rng) for _ in range(TRIES)), key=faults)
    return tuple(replace(one, question=_shuffled(one.question, rng)) for one in best)


def _shuffled(question: Question, rng: random.Random) -> Question:
    """Return the question with its choices in another order, because neighbours may have it, too."""
    order = rng.sample(range(len(question.choices)), len(question.choices))
    choices = tuple(question.choices[place] for place in order)
    return replace(question, choices=choices, key=order.index(question.key))


def _drawn(pool: Pool, most: int, rng: random.Random) -> tuple[Asked, ...]:
    """Return questions about different exercises, then second ones about the same."""
    order = rng.sample([*pool], len(pool))
    places = [(name, number) for number in range(MOST_EACH) for name in order if number < len(pool[name])]
    wanted = Counter(name for name, _ in places[:most])
    return tuple(Asked(name, one) for name in pool for one in rng.sample(pool[name], wanted[name]))


def numbered(sheet: Sheet, before: str, known: Collection[str]) -> Sheet:
    """Return the sheet with a number that begins with `before` and names the questions, unlike those `known`."""
    salt = 0
    while True:
        plain = f"{sheet.student}\0{salt}\0{[(one.exercise, one.question.to_plain()) for one in sheet.asked]}"
        digest = int.from_bytes(hashlib.sha256(plain.encode()).digest()[:8])
        signs = "".join(ALPHABET[digest >> 5 * place & 31] for place in range(4))
        number = f"{before}{FIRST_SIGNS[(digest >> 20) % len(FIRST_SIGNS)]}{signs}"
        if number not in known:
            return replace(sheet, number=number)
        salt += 1
