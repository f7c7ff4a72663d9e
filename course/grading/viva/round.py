"""The files of a round of sheets: the sheets as data, the key, and the results, in viva/<number of the topic>/."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from course.files import write_atomically
from course.grading.classroom.roster import Table
from course.grading.viva.marks import Key, Marked
from course.grading.viva.sheets import Sheet
from course.problem import Problem
from course.syllabus import Topic

FIRST_SEED = 1
"""The seed of a topic's first round. Others are for retakes."""

LETTERS = "ABCD"

COLUMNS = tuple(field.name for field in fields(Key))


@dataclass(frozen=True)
class Round:
    """The sheets of a topic that were made with one seed, in a course's folder."""

    root: Path
    topic: Topic
    seed: int = FIRST_SEED

    @property
    def folder(self) -> Path:
        """Return the folder of the round."""
        first = self.root / "viva" / f"{self.topic.names[-1]}"
        return first if self.seed == FIRST_SEED else first / f"seed-{self.seed}"

    @property
    def before_number(self) -> str:
        """Return the beginning of its sheets' numbers."""
        return f"{self.topic.names[-1]}-{self.seed}-"

    def sheets(self) -> list[Sheet]:
        """Return all sheets that were made, oldest first. A student has several if the code has changed since.

        Raises:
            Problem: their file is damaged.
        """
        path = self.folder / "sheets.json"
        if not path.is_file():
            return []
        try:
            return [Sheet.from_plain(plain) for plain in json.loads(path.read_text("utf-8"))]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise Problem(
                f"{path} is damaged. Put a copy of it back, or delete {self.folder} and make the sheets again"
            ) from None

    def save(self, sheets: Sequence[Sheet]) -> None:
        """Write all sheets as data, their key, and an empty table for the answers.

        What the grader has corrected in the key stays.
        """
        corrected = {(key.sheet, key.question): key.right for key in self.key_rows()} if self._key.is_file() else {}
        plain = json.dumps([sheet.to_plain() for sheet in sheets], ensure_ascii=False, indent=1)
        write_atomically(self.folder / "sheets.json", plain.encode())
        keys = [key for sheet in sheets for key in keys_of(sheet)]
        rows = [(*astuple(key)[:-1], corrected.get((key.sheet, key.question), key.right)) for key in keys]
        _write(self._key, [COLUMNS, *rows])
        self._save_empty_table({sheet.student: sheet for sheet in sheets})

    def _save_empty_table(self, latest: dict[str, Sheet]) -> None:
        """Write answers.csv, into which a grader enters letters, unless it holds some already."""
        path = self.folder / "answers.csv"
        if path.exists() and any(cell.strip() for line in Table.read(path).lines for cell in line[2:]):
            return
        numbers = range(1, 1 + max((len(sheet.asked) for sheet in latest.values()), default=0))
        rows = [(student, latest[student].number, *("" for _ in numbers)) for student in sorted(latest)]
        _write(path, [("student", "sheet", *numbers), *rows])

    @property
    def _key(self) -> Path:
        return self.folder / "key.csv"

    def key_rows(self) -> list[Key]:
        """Return the rows of key.csv.

        Raises:
            Problem: there is none, or it was changed so that it is no key any more.
        """
        if not self._key.is_file():
            seed = "" if self.seed == FIRST_SEED else f" --seed {self.seed}"
            raise Problem(f"there is no {self._key}. Run `course viva {self.topic.folder}{seed}` first")
        table = Table.read(self._key)
        table.need(*COLUMNS)
        keys = []
        for row, line in zip(table.rows, table.numbers, strict=True):
            right = row["right"].strip().upper()
            if not row["question"].isdecimal() or set(right) - set(LETTERS):
                told = "needs a number as its question, and letters from A to D, or nothing, as right"
                raise Problem(f"{self._key}, line {line}, {told}. Correct it, or delete {self.folder} and begin anew")
            values = (row[name] for name in ("sheet", "student", "question", "exercise", "kind"))
            sheet, student, question, exercise, kind = values
            keys.append(Key(sheet, student, int(question), exercise, kind, right))
        return keys

    def save_results(self, marked: Iterable[Marked]) -> Path:
        """Write results.csv, with a row for each student, and return its path."""
        marked = sorted(marked, key=lambda one: one.student)
        most = max((len(one.answers) for one in marked), default=0)
        rows = [
            [one.student, one.sheet, one.right, len(one.counted), *(answer for _, answer in one.answers)]
            for one in marked
        ]
        path = self.folder / "results.csv"
        _write(path, [["student", "sheet", "right", "of", *range(1, most + 1)], *rows])
        return path

    def results(self) -> list[Marked]:
        """Return the marked sheets, from results.csv and the key as they are now.

        Raises:
            Problem: one of these files is damaged.
        """
        path = self.folder / "results.csv"
        if not path.is_file():
            return []
        table = Table.read(path)
        table.need("student", "sheet")
        keys = self.keys_by_sheet()
        return [marked(row, keys.get(row["sheet"], [])) for row in table.rows]

    def keys_by_sheet(self) -> dict[str, list[Key]]:
        """Return the rows of the key by sheet, in the order of the questions."""
        by_sheet: dict[str, list[Key]] = {}
        for key in sorted(self.key_rows(), key=lambda key: key.question):
            by_sheet.setdefault(key.sheet, []).append(key)
        return by_sheet


def marked(row: dict[str, str], keys: Sequence[Key]) -> Marked:
    """Return a row of a table of answers with the rows of the key that it is marked with."""
    answers = tuple((key, row.get(str(key.question), "").strip().upper()) for key in keys)
    return Marked(row["sheet"], row["student"], answers)


def rounds(root: Path, topic: Topic) -> list[Round]:
    """Return the rounds of a topic that have files, in the order of their seeds."""
    first = Round(root, topic)
    found = [path.name.removeprefix("seed-") for path in first.folder.glob("seed-*")]
    seeds = sorted({FIRST_SEED, *(int(name) for name in found if name.isdecimal())})
    return [one for one in (Round(root, topic, seed) for seed in seeds) if (one.folder / "key.csv").is_file()]


def keys_of(sheet: Sheet) -> list[Key]:
    """Return the rows of the key for a sheet."""
    return [
        Key(sheet.number, sheet.student, number, one.exercise, one.question.kind, LETTERS[one.question.key])
        for number, one in enumerate(sheet.asked, 1)
    ]


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\n").writerows(rows)
    write_atomically(path, made.getvalue().encode())
