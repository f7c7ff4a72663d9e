"""Moodle, as far as an instructor meets it here: what it gives out, and how it reads grades that are imported.

From github.com/moodle/moodle: `mod/assign/gradingtable.php` (the worksheet), `mod/assign/classes/downloader.php`; for
the worksheet's import `mod/assign/feedback/offline/importgradeslib.php` and `process_import_grades` in `locallib.php`
there; for the gradebook's `grade/import/csv/classes/load_data.php`, with `normalise_value` of `lib/dml`, by which an
empty text becomes a zero in a column of numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from .people import Student

MOST_POINTS = 100.0
"""The largest grade that the gradebook's import takes, unless a site allows more."""

DATE = "%A, %d %B %Y, %I:%M %p"
HEAD = (
    *("Identifier", "Full name", "ID number", "Email address", "Status", "Grade", "Maximum grade"),
    *("Grade can be changed", "Last modified (submission)", "Last modified (grade)", "Feedback comments"),
)


class Refused(Exception):
    """What Moodle does not import; then it imports nothing."""


@dataclass
class Grade:
    """A grade, when it was given, and whether it is locked in the gradebook."""

    points: float
    given: datetime
    locked: bool = False


@dataclass
class Assignment:
    """An assignment in Moodle, with the grades by username."""

    students: Sequence[Student]
    most: float
    grades: dict[str, Grade] = field(default_factory=dict)

    def worksheet(self) -> str:
        """View all submissions, Download grading worksheet."""
        made = io.StringIO()
        writer = csv.writer(made, lineterminator="\n")
        writer.writerow(HEAD)
        for one in self.students:
            grade = self.grades.get(one.username)
            about = [f"Participant {one.participant}", one.full_name, one.sis_id, one.email, "Submitted for grading"]
            points = [f"{grade.points:.2f}" if grade else "", f"{self.most:.2f}"]
            times = ["-", f"{grade.given:{DATE}}" if grade else "-"]
            writer.writerow([*about, *points, "No" if grade and grade.locked else "Yes", *times, 'well, "done"'])
        return made.getvalue()

    def take(self, text: str, now: datetime) -> list[str]:
        """Upload grading worksheet, records that were changed since the download left alone; returns who was skipped.

        Raises:
            Refused: a column is missing, or a row has another number of cells.
        """
        head, *rows = _rows(text)
        if missing := {"Identifier", "Grade", "Last modified (grade)"} - set(head):
            raise Refused(f"the uploaded grade file has no column {missing}")
        people = {str(one.participant): one for one in self.students}
        skipped = []
        for row in rows:
            told = dict(zip(head, row, strict=True))
            student = people.get(told["Identifier"].removeprefix("Participant "))
            if student is None or not told["Grade"]:
                continue
            before, points = self.grades.get(student.username), _points(told["Grade"])
            if before and before.points == points:
                continue
            if (before and (before.locked or _is_stale(before, told))) or not 0 <= points <= self.most:
                skipped.append(student.username)
                continue
            self.grades[student.username] = Grade(points, now)
        return skipped


def _is_stale(before: Grade, told: Mapping[str, str]) -> bool:
    """Whether a grade was given after the worksheet was made, where seconds do not count."""
    stamp = told["Last modified (grade)"]
    return stamp == "-" or before.given > datetime.strptime(stamp, DATE) + timedelta(seconds=60)


def participants(students: Sequence[Student]) -> str:
    """Participants, Download table data as CSV, where a site shows usernames."""
    made = io.StringIO()
    rows = [[one.first, one.last, one.username, one.email, ""] for one in students]
    csv.writer(made, lineterminator="\n").writerows(
        [["First name", "Last name", "Username", "Email address", "Groups"], *rows]
    )
    return made.getvalue()


def import_grades(
    text: str, by: str, students: Sequence[Student], items: Sequence[str], existing: Sequence[str] = ()
) -> dict[tuple[str, str], float | None]:
    """Grades, Import, CSV file: what each of the `items` has afterwards, by username; a missing one is left alone.

    Args:
        by: the column that tells who a row is about, `Username` or `Email address`.
        existing: the items that are there already; the others are new ones.

    Raises:
        Refused: a row is about nobody, or has no number for a grade, or one above what a site allows.
    """
    head, *rows = _rows(text)
    people = {getattr(one, {"Username": "username", "Email address": "email"}[by]): one for one in students}
    found: dict[tuple[str, str], float | None] = {}
    for row in rows:
        told = {name.strip(): cell.strip() for name, cell in zip(head, row, strict=True)}
        if told[by] not in people:
            raise Refused(f"User mapping error: could not find user with {by} of {told[by]!r}")
        for item in items:
            if told[item] == "-" or (told[item] == "" and item in existing):
                grade = None
            else:
                grade = _points(told[item]) if told[item] else 0.0
            if grade is not None and grade > MOST_POINTS:
                raise Refused(f"one of the grade values is larger than {MOST_POINTS}")
            if grade is not None or item in existing:
                found[people[told[by]].username, item] = grade
    return found


def download(works: Mapping[Student, tuple[str, bytes]]) -> dict[str, bytes]:
    """Download all submissions, in folders: each student's file, by its name and its bytes."""
    folder = "_assignsubmission_file"
    return {f"{one.full_name}_{one.participant}{folder}/{name}": data for one, (name, data) in works.items()}


def _rows(text: str) -> list[list[str]]:
    """The rows of a CSV file, as `csv_import_reader` wants them."""
    rows = [row for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True) if row]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        raise Refused("CSV file has an invalid format: the number of columns is not constant")
    return rows


def _points(cell: str) -> float:
    """`unformat_float`, in English."""
    try:
        return float(cell.replace(" ", ""))
    except ValueError:
        raise Refused(f"the grade {cell!r} is no number") from None
