"""Moodle's files: an assignment's offline grading worksheet, filled in, or a table for the gradebook's import.

The worksheet is Moodle's own download (Assignment, View all submissions, Download grading worksheet); to take it back
Moodle needs its columns `Identifier`, `Grade` and `Last modified (grade)` (`mod/assign/feedback/offline`), under their
names in the language of who downloads it. What comes back has the worksheet's own names, delimiter and decimal mark.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from course.grading.export.grades import Grades, as_text
from course.grading.export.roster import Roster, absent
from course.grading.problem import Problem

NEEDED = ("Identifier", "Grade", "Last modified (grade)")
MOST = ("Maximum grade", "Maximum Grade")
IDENTITIES = ("Username", "ID number", "Email address")

GERMAN = {
    "Identifier": "ID",
    "Full name": "Vollständiger Name",
    "Username": "Anmeldename",
    "ID number": "ID-Nummer",
    "Email address": "E-Mail-Adresse",
    "Grade": "Bewertung",
    "Maximum grade": "Bestwertung",
    "Last modified (grade)": "Zuletzt geändert (Bewertung)",
}
"""What Moodle calls these columns in German (`lang/de/assign.php`)."""


def write_moodle(grades: Grades, to: Path, into: Path | None = None) -> list[str]:
    """Write the grades for Moodle and return what there is to say about them.

    Without `into`, a table for Grades, Import, CSV file, which asks what each column is. With it, one topic's grades in
    that worksheet, scaled to the points the assignment has in Moodle; of no points, everything is 0 there.

    Raises:
        Problem: `into` is no worksheet in English or German, or more than one topic is to go into it.
    """
    if into is None:
        _write_table(grades, to)
        return grades.notes()
    if len(grades.topics) > 1:
        raise Problem("a worksheet of Moodle holds one assignment: export one topic at a time")
    roster = Roster.read(into, ())
    called = _language(roster)
    whose = roster.match(grades.pupils, [called.get(name, name) for name in IDENTITIES], [called["Full name"]])
    topic = grades.topics[0].folder
    points = grades.points[topic]
    scaled: set[float] = set()
    with to.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, roster.columns, delimiter=roster.delimiter)
        table.writeheader()
        for number, row in enumerate(roster.rows):
            grade = whose.of(number).get(topic)
            if grade is not None:
                most = _most(row, points, [called.get(name, name) for name in MOST])
                if points and most != points:
                    scaled.add(most)
                score = f"{grade.score * most / points if points else 0:.6g}"
                row = {**row, called["Grade"]: score.replace(".", ",") if called is GERMAN else score}
            table.writerow(row)
    notes = [f"scaled from {points:g} points to Moodle's {most:g}" for most in sorted(scaled)]
    return [*grades.notes(), *absent(grades.pupils, whose, into), *notes]


def _write_table(grades: Grades, to: Path) -> None:
    with to.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        names = [topic.folder for topic in grades.topics]
        table.writerow(["Username", "Email address", "First name", "Last name", *names])
        for pupil in grades.pupils:
            scores = [f"{pupil.grades[name].score:.6g}" if name in pupil.grades else "" for name in names]
            table.writerow([pupil.id, pupil.email, as_text(pupil.first_name), as_text(pupil.last_name), *scores])


def _language(roster: Roster) -> dict[str, str]:
    """What the columns of a worksheet are called, in the language it is in.

    Raises:
        Problem: it has not the columns that Moodle needs, in any language known here.
    """
    for called in ({name: name for name in GERMAN}, GERMAN):
        if all(called[name] in roster.columns for name in NEEDED):
            return called
    missing = " and no column ".join(name for name in NEEDED if name not in roster.columns)
    raise Problem(
        f"{roster.path} has no column {missing}: is it an assignment's grading worksheet? "
        "Those in English and German are read: set Moodle to one of them, and download it again"
    )


def _most(row: dict[str, str], otherwise: float, columns: Sequence[str] = MOST) -> float:
    """The points an assignment has in Moodle, with its decimal point or comma; `otherwise` where no column tells.

    Raises:
        Problem: the column holds no number of points.
    """
    told = next((row[column].strip() for column in columns if (row.get(column) or "").strip()), "")
    if not told:
        return otherwise
    if re.fullmatch(r"\d+([.,]\d+)?", told) is None:
        raise Problem(f"the worksheet says that the assignment has {told!r} points: write a plain number, such as 100")
    return float(told.replace(",", "."))
