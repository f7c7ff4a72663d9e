"""Export final grades: to a spreadsheet with how each came about, or to a platform as one assignment's."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

from course.course import Course
from course.files import whole
from course.grading.classroom.final_grades import FinalGrades, final_grades
from course.grading.export.canvas import write_canvas
from course.grading.export.moodle import write_moodle
from course.grading.gradebook.final_grade import Part
from course.grading.gradebook.grades import as_text
from course.problem import Problem


def export_final(course: Course, platform: str, to: Path | None, into: Path | None) -> tuple[Path, list[str]]:
    """Write the final grades of a class, and return the file's path and notes for the instructor.

    Args:
        to: the file to write, by default `exports/<platform>-final.csv`.
        into: a file downloaded from the platform, whose column for the final grade is filled in.

    Raises:
        Problem: `course.toml` has no rule, nothing is graded, `into` does not fit, or the file cannot be written.
    """
    grades = final_grades(course, datetime.now(UTC))
    path = to or course.root / "exports" / f"{platform}-final.csv"
    try:
        with whole(path) as unfinished:
            if platform == "csv":
                _write_table(grades, unfinished)
                return path, list(grades.notes)
            write = write_canvas if platform == "canvas" else write_moodle
            notes = write(grades.as_topic(), unfinished, into)
            return path, [*grades.notes, *notes]
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error


def _write_table(grades: FinalGrades, to: Path) -> None:
    """Write a row for each student: percent in each topic, or why it does not count, and the sums, all in percent."""
    with to.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "last_name", "first_name", *grades.weights, "mean", "extra_credit", "final_grade"])
        table.writerow(["weight", "", "", *(f"{float(weight):g}" for weight in grades.weights.values()), "", "", ""])
        for person in grades.people:
            one = grades.grades[person.id]
            who = [person.id, *(as_text(person.about.get(name, "")) for name in ("last_name", "first_name"))]
            sums = ("", "", "") if one.mean is None else (_percent(one.mean), _percent(one.extra), one.grade)
            table.writerow([*who, *map(_cell, one.parts), *sums])


def _cell(part: Part) -> str:
    share = _percent(part.share) if part.state in ("counts", "missing", "extra", "dropped") else ""
    word = "" if part.state == "counts" else part.state
    return f"{share} {word}".strip()


def _percent(share: Fraction | None) -> str:
    return f"{float(100 * (share or 0)):.6g}"
