"""Write Moodle's files: an assignment's offline grading worksheet, or a table for the gradebook's import.

The worksheet is Moodle's own download (Assignment, View all submissions, Download grading worksheet). Its upload needs
the columns `Identifier`, `Grade` and `Last modified (grade)` (`mod/assign/feedback/offline`), under their names in the
user's language. The written file keeps the worksheet's names, delimiter and decimal mark.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from course.grading.classroom.roster import Table
from course.grading.export.matching import Scale, absent, match, read_points
from course.grading.gradebook.grades import Grades, as_text
from course.problem import Problem

NEEDED = ("Identifier", "Grade", "Last modified (grade)")
MOST = ("Maximum grade", "Maximum Grade")
IDENTITIES = ("Username", "ID number", "Email address")

NO_GRADE = "-"
"""The cell without a grade, because Moodle's import into a new column reads an empty cell as 0 points."""

GERMAN = {
    "Identifier": "ID",
    "Full name": "Vollständiger Name",
    "Username": "Anmeldename",
    "ID number": "ID-Nummer",
    "Email address": "E-Mail-Adresse",
    "Grade": "Bewertung",
    "Maximum grade": "Bestwertung",
    "Grade can be changed": "Bewertung kann geändert werden",
    "Last modified (grade)": "Zuletzt geändert (Bewertung)",
}
"""The German names of these columns in Moodle (`lang/de/assign.php`)."""


def write_moodle(grades: Grades, to: Path, into: Path | None = None) -> list[str]:
    """Write the grades for Moodle and return notes for the instructor.

    Without `into`, this is a table for Grades, Import, CSV file, which asks what each column is. With it, one topic's
    grades are filled into that worksheet, scaled to the assignment's points in Moodle; grades out of 0 points become 0.

    Raises:
        Problem: `into` is no worksheet in English or German, or several topics are given for it.
    """
    if into is None:
        _write_table(grades, to)
        return [*grades.notes(), *grades.gaps("Moodle", f"a {NO_GRADE}")]
    if len(grades.topics) > 1:
        raise Problem("a worksheet of Moodle holds one assignment. Export one topic at a time")
    return _fill_in(grades, to, Table.read(into))


def _fill_in(grades: Grades, to: Path, table: Table) -> list[str]:
    """Change the grade cells of the students graded here, and no others."""
    called = _language(table)
    _refuse_words(table)
    whose = match(table, grades.pupils, [called.get(name, name) for name in IDENTITIES], [called["Full name"]])
    topic, at = grades.topics[0].folder, table.place(called["Grade"])
    lines: list[Sequence[str]] = []
    scaled: set[float] = set()
    above: list[str] = []
    locked: list[str] = []
    for number, (line, row) in enumerate(zip(table.lines, table.rows)):
        grade = whose.of(number).get(topic)
        if grade is not None:
            points = grades.points[topic]
            scale = Scale(points, most_points(row, points, [called.get(n, n) for n in MOST]))
            scaled |= {scale.most} if scale.is_other else set()
            score = f"{scale.of(grade.score):.6g}"
            line = (*line[:at], score.replace(".", ",") if called is GERMAN else score, *line[at + 1 :])
            if row.get(called["Grade can be changed"]) in ("No", "Nein"):
                locked.append(whose.pupils[number].id)
            elif scale.of(grade.score) > scale.most:
                above.append(whose.pupils[number].id)
        lines.append(line)
    with to.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=table.delimiter).writerows([table.columns, *lines])
    return [
        *table.notes(),
        *grades.notes(),
        *absent(grades.pupils, whose, table.path),
        *(f"scaled from {grades.points[topic]:g} points to Moodle's {most:g}" for most in sorted(scaled)),
        *_skipped(above, locked),
    ]


def _skipped(above: Sequence[str], locked: Sequence[str]) -> list[str]:
    """Return notes on whose grades Moodle's import skips without a message."""
    notes = []
    if above:
        notes.append(f"Moodle skips grades above its maximum: {', '.join(above)}. Raise the maximum grade in Moodle")
    if locked:
        notes.append(f"Moodle skips grades that are locked or overridden in its gradebook: {', '.join(locked)}")
    return notes


def _write_table(grades: Grades, to: Path) -> None:
    """Write all students with a grade, because a cell without one would only delete grades in Moodle.

    Usernames are written without capitals: `user_create_user` of `user/lib.php` refuses them. Moodle skips a `-`
    (`import_new_grade_item` of `grade/import/csv/classes/load_data.php`).
    """
    with to.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        names = [topic.folder for topic in grades.topics]
        table.writerow(["Username", "Email address", "First name", "Last name", *names])
        for pupil in filter(lambda pupil: pupil.grades, grades.pupils):
            who = [pupil.id.lower(), pupil.email, as_text(pupil.first_name), as_text(pupil.last_name)]
            table.writerow([*who, *pupil.scores(names, NO_GRADE)])


def _language(table: Table) -> dict[str, str]:
    """Return the names of a worksheet's columns, by their English names, in its language.

    Raises:
        Problem: the worksheet lacks the columns that Moodle needs, in every known language.
    """
    for called in ({name: name for name in GERMAN}, GERMAN):
        if all(called[name] in table.columns for name in NEEDED):
            return called
    missing = " and no column ".join(name for name in NEEDED if name not in table.columns)
    raise Problem(
        f"{table.path} has no column {missing}, so it is no grading worksheet in English or German. "
        "Set Moodle to one of these languages, and download the assignment's grading worksheet again"
    )


def _refuse_words(table: Table) -> None:
    """Refuse a worksheet whose grades are words of a scale, because Moodle skips numbers there.

    Raises:
        Problem: the assignment has a scale.
    """
    if {"Scale", "Skala"} & set(table.columns):
        raise Problem(
            f"{table.path} is of an assignment with a scale of words, so Moodle would skip our points. "
            "Set its grade type to Point there, and download the worksheet again"
        )


def most_points(row: dict[str, str], otherwise: float, columns: Sequence[str] = MOST) -> float:
    """Return the points of an assignment in Moodle, or `otherwise` if no column has them.

    Raises:
        Problem: the column holds no number of points, or 0.
    """
    told = next((row[column].strip() for column in columns if (row.get(column) or "").strip()), "")
    if not told:
        return otherwise
    most = read_points(told, "the assignment in the worksheet")
    if not most:
        raise Problem(
            "the assignment in the worksheet has 0 points. Give it some in Moodle, and download the worksheet again"
        )
    return most
