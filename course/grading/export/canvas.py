"""Write the gradebook file that Canvas imports.

The format is that of Canvas's own export: student columns in a fixed order, then a column for each assignment, and a
row with the points possible (`lib/gradebook_importer.rb` and `gradebook_exporter.rb` in instructure/canvas-lms).
Importing an empty cell deletes the grade in Canvas, so students without a grade here keep their cells from Canvas.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from course.grading.classroom.roster import Table
from course.grading.export.matching import Scale, absent, called_like, match, read_points
from course.grading.gradebook.grades import Grades, StudentGrades, as_text
from course.problem import Problem
from course.syllabus import Topic

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
IDENTITIES = ("SIS Login ID", "SIS User ID", "Integration ID")
POSSIBLE = "    Points Possible"
READ_ONLY = "(read only)"

EXCUSED = "EX"
"""The cell of a student who is excused."""

STAYS = (EXCUSED, "N/A")
"""The cells of students who are excused or not assigned: Canvas has decided, and no score replaces these."""

_HIDDEN = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)
"""The cells of the row in which Canvas marks assignments as hidden."""


def write_canvas(grades: Grades, to: Path, into: Path | None = None) -> list[str]:
    """Write the grades for Canvas and return notes for the instructor.

    Without `into`, Canvas's number identifies a student if the class list had it, else the login, which is the
    gradebook's id. With `into`, a gradebook exported from Canvas, students, assignments and points are taken from it.

    Raises:
        Problem: `into` is no such file, or a topic has no column in it, or several.
    """
    if into is None:
        return _write_new(grades, to)
    table = Table.read(into)
    names = {"LastName", "FirstName"}
    if names <= set(table.columns):
        table = table.with_column("Student", lambda row: f"{row['LastName']}, {row['FirstName']}")
    table.need("Student", "ID", "Section")
    return _fill_in(grades, to, table)


def _write_new(grades: Grades, to: Path) -> list[str]:
    """Write all students with a grade or an excuse, because a row without one would only delete grades in Canvas.

    If Canvas does not know a login, it gives the grade to the first student of the same name.
    """
    names = [topic.folder for topic in grades.topics]
    rows = []
    for pupil in grades.pupils:
        cells = [
            EXCUSED if grades.is_excused(pupil.id, name) else score for name, score in zip(names, pupil.scores(names))
        ]
        if any(cells):
            rows.append([as_text(pupil.sortable_name), _number(pupil), "", pupil.id, "", *cells])
    points = [f"{grades.points[name]:g}" for name in names]
    _write(to, [[*STUDENT, *names], [POSSIBLE, *[""] * (len(STUDENT) - 1), *points], *rows])
    return [*grades.notes(), *grades.gaps("Canvas", excuses=True)]


def _number(pupil: StudentGrades) -> str:
    """Return Canvas's number of a student, or "" if the class list had none, or another platform's."""
    return pupil.platform_number if re.fullmatch(r"\d+", pupil.platform_number) else ""


def _fill_in(grades: Grades, to: Path, table: Table) -> list[str]:
    student = table.columns[: table.columns.index("Section") + 1]
    titles = {topic.folder: _column(table, topic, table.columns[len(student) :]) for topic in grades.topics}
    possible = next((row for row in table.rows if "Points Possible" in row[student[0]]), None)
    worth = {
        name: f"{grades.points[name]:g}" if possible is None else possible[title].strip()
        for name, title in titles.items()
    }
    scales = {name: _scale(table, title, worth[name], grades.points[name]) for name, title in titles.items()}
    people = table.only(_is_student)
    whose = match(people, grades.pupils, IDENTITIES, names=("Student",), numbers=("ID",))
    rows = [[*student, *titles.values()], [POSSIBLE, *[""] * (len(student) - 1), *worth.values()]]
    stays: dict[tuple[str, str], list[str]] = {}
    for number, row in enumerate(people.rows):
        cells = {name: row[title] for name, title in titles.items()}
        pupil = whose.pupils.get(number)
        excused = [name for name in titles if pupil and grades.is_excused(pupil.id, name)]
        cells |= dict.fromkeys(excused, EXCUSED)
        for name, grade in whose.of(number).items():
            if name in excused:
                continue
            if (kept := cells[name].strip().upper()) in STAYS:
                stays.setdefault((name, kept), []).append(whose.pupils[number].id)
            else:
                cells[name] = f"{scales[name].of(grade.score):.6g}"
        rows.append([*(row[name] for name in student), *cells.values()])
    _write(to, rows, ";" if table.delimiter == ";" else ",")
    return [
        *table.notes(),
        *grades.notes(),
        *absent(grades.pupils, whose, table.path),
        *_about_points(titles, worth, scales),
        *(f"{name}: {kept} in Canvas stays for {', '.join(ids)}" for (name, kept), ids in stays.items()),
    ]


def _about_points(titles: dict[str, str], worth: dict[str, str], scales: dict[str, Scale]) -> list[str]:
    """Return notes on which grades are scaled in Canvas, and which could not be."""
    notes = []
    for name, scale in scales.items():
        if scale.is_other:
            notes.append(f"{name}: scaled from {scale.points:g} points to Canvas's {scale.most:g}")
        elif scale.points and not worth[name].strip("0.,"):
            what = f"{titles[name]} has no points in Canvas, so its grades are not scaled"
            notes.append(f"{what}. Give it {scale.points:g} points there")
    return notes


def _scale(table: Table, title: str, worth: str, points: float) -> Scale:
    """Return the scale from grades to Canvas's, which is 1:1 if an assignment has no points there.

    Raises:
        Problem: the column is read-only in Canvas, or has no number of points.
    """
    if worth == READ_ONLY:
        raise Problem(
            f"{table.path} says that {title} is read-only in Canvas, so no grade can be imported "
            "there. Make the assignment editable in Canvas"
        )
    most = read_points(worth, f"{title} in {table.path}") if worth else 0.0
    return Scale(points, most or points)


def _column(table: Table, topic: Topic, columns: Sequence[str]) -> str:
    """Return a topic's column in a file from Canvas, which names it by its title and a number in parentheses.

    Raises:
        Problem: the topic has no column, or several, and not exactly one is named after the topic's folder.
    """
    found = called_like(topic, ((re.sub(r"\s*\(\d+\)$", "", column), column) for column in columns))
    if not found:
        raise Problem(
            f"{table.path} has no column for {topic.folder}. Name the assignment in Canvas "
            f"{topic.folder}, and export the file again"
        )
    if len(found) > 1:
        raise Problem(
            f"{table.path} has several columns for {topic.folder}: {', '.join(found)}. "
            "Keep the one you mean and delete the others from that file"
        )
    return found[0]


def _is_student(line: Sequence[str]) -> bool:
    """Return whether a line is a student's, and neither the points possible nor the row of hidden assignments."""
    return "Points Possible" not in line[0] and not all(_HIDDEN.fullmatch(cell) for cell in line)


def _write(to: Path, rows: Sequence[Sequence[str]], delimiter: str = ",") -> None:
    with to.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
