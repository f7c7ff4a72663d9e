"""Canvas's gradebook file: what its Import takes.

The format is that of Canvas's own export: student columns in a fixed order, then a column for each assignment, and a
second row with the points possible (`lib/gradebook_importer.rb` in instructure/canvas-lms).
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

from course.grading.export.grades import Grades, as_text
from course.grading.export.roster import Match, Roster, absent
from course.grading.problem import Problem
from course.syllabus import Topic

STUDENT = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
IDENTITIES = ("SIS Login ID", "SIS User ID", "Integration ID")
POSSIBLE = "    Points Possible"


def write_canvas(grades: Grades, to: Path, into: Path | None = None) -> list[str]:
    """Write the grades for Canvas and return what there is to say about them.

    Without `into`, students are told by their login, which is the id they have in the gradebook. With it, a gradebook
    exported from Canvas, students and assignments are those of that file.

    Raises:
        Problem: `into` is no such file, or has no column for a topic.
    """
    roster = None if into is None else Roster.read(into, ("Student", "ID", "Section"))
    titles = {topic.folder: topic.folder if roster is None else _column(roster, topic) for topic in grades.topics}
    lines: list[list[str]] = []
    notes = grades.notes()
    if roster is None:
        student = list(STUDENT)
        for pupil in grades.pupils:
            lines.append([as_text(pupil.sortable_name), "", "", pupil.id, ""])
        whose = Match(dict(enumerate(grades.pupils)))
    else:
        student = list(roster.columns[: roster.columns.index("Section") + 1])
        people = [row for row in roster.rows if row["ID"] or row.get("SIS Login ID") or row.get("SIS User ID")]
        roster = Roster(roster.path, roster.columns, tuple(people))
        lines = [[row[name] for name in student] for row in people]
        whose = roster.match(grades.pupils, IDENTITIES, names=("Student",), numbers=("ID",))
        notes += absent(grades.pupils, whose, roster.path)
    with to.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([*student, *titles.values()])
        table.writerow([POSSIBLE, *[""] * (len(student) - 1), *(f"{grades.points[name]:g}" for name in titles)])
        for number, line in enumerate(lines):
            own = whose.of(number)
            table.writerow([*line, *(f"{own[name].score:.6g}" if name in own else "" for name in titles)])
    return notes


def _column(roster: Roster, topic: Topic) -> str:
    """The column of a topic in a file from Canvas, which calls it by its title and a number in parentheses."""
    names = {topic.folder, topic.name, topic.title, f"{topic.number} {topic.title}", f"{topic.number:02} {topic.title}"}
    accepted = {name.casefold() for name in names}
    for column in roster.columns:
        if re.sub(r"\s*\(\d+\)$", "", column).strip().casefold() in accepted:
            return column
    raise Problem(f"{roster.path} has no column for {topic.folder}: name the assignment in Canvas {topic.folder}")
