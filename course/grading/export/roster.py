"""A class list downloaded from a platform: whose row is whose, so that grades find their students."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course.grading.export.grades import Pupil
from course.grading.problem import Problem

Row = dict[str, str]


@dataclass(frozen=True)
class Roster:
    """The rows of a downloaded CSV file, by its columns."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @classmethod
    def read(cls, path: Path, needed: Iterable[str]) -> Roster:
        """The file at `path`, whether its values are divided by commas or semicolons.

        Raises:
            Problem: it cannot be read, or lacks one of the `needed` columns.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise Problem(f"{path} cannot be read: {error.strerror}") from error
        except UnicodeDecodeError:
            raise Problem(f"{path} is not a CSV file in UTF-8: download it again from the platform") from None
        first = text.partition("\n")[0]
        reader = csv.DictReader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ",")
        try:
            columns = tuple(reader.fieldnames or ())
            missing = [name for name in needed if name not in columns]
            if missing:
                raise Problem(
                    f"{path} has no column {' and no column '.join(missing)}: is it the file downloaded there?"
                )
            rows = tuple({name: row.get(name) or "" for name in columns} for row in reader)
        except csv.Error as error:
            raise Problem(f"{path} is not a CSV file: {error}") from None
        return cls(path, columns, rows)

    def match(self, pupils: Sequence[Pupil], identities: Sequence[str], names: Sequence[str]) -> dict[int, Pupil]:
        """Whose each row is, by its number: told by the columns of `identities`, else by a full name nobody shares."""
        ids = _unique((key, pupil) for pupil in pupils for key in _identities(pupil))
        called = _unique((key, pupil) for pupil in pupils for key in (pupil.sortable_name, pupil.full_name))
        found: dict[int, Pupil] = {}
        for number, row in enumerate(self.rows):
            values = [row[column] for column in identities if row.get(column)]
            keys = [*values, *(value.partition("@")[0] for value in values)]
            pupil = next((ids[_key(key)] for key in keys if _key(key) in ids), None)
            pupil = pupil or next((called[_key(row[c])] for c in names if _key(row.get(c, "")) in called), None)
            if pupil is not None:
                found[number] = pupil
        return found


def absent(pupils: Iterable[Pupil], found: Mapping[int, Pupil], path: Path) -> list[str]:
    """A note on those with grades whom the class list does not know."""
    known = {pupil.id for pupil in found.values()}
    lost = [pupil.id for pupil in pupils if pupil.grades and pupil.id not in known]
    return [f"not in {path.name}, and so left out: {', '.join(lost)}"] if lost else []


def _identities(pupil: Pupil) -> list[str]:
    return [pupil.id, *([pupil.email] if pupil.email else [])]


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _unique(entries: Iterable[tuple[str, Pupil]]) -> dict[str, Pupil]:
    """The entries whose key belongs to one pupil alone."""
    owners: dict[str, dict[str, Pupil]] = {}
    for key, pupil in entries:
        owners.setdefault(_key(key), {})[pupil.id] = pupil
    return {key: next(iter(found.values())) for key, found in owners.items() if key and len(found) == 1}
