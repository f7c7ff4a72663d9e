"""Canvas, as far as an instructor meets it here: what it gives out, and how it reads a gradebook that is imported.

From github.com/instructure/canvas-lms: `lib/gradebook_exporter.rb`, `lib/content_zipper.rb`, and for the import
`lib/gradebook_importer.rb` with `Assignment.title_and_id`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .people import Student

Score = float | str | None
"""What Canvas has for a student and an assignment: points, `EX` for excused, or nothing."""

TOTALS = ("Assignments Current Score", "Assignments Final Score", "Current Score", "Final Score")
TEST_STUDENT = 4999
"""The number of the student whom Canvas adds to each course, to try things."""

_NO_ASSIGNMENTS = re.compile("(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
_READ_ONLY = "(read only)"


class Refused(Exception):
    """What Canvas does not import, or asks a person about."""


@dataclass
class Gradebook:
    """A course in Canvas: its students, its assignments by their numbers, and all scores by both numbers.

    Who is in `unassigned` with an assignment is not to do it: `N/A`.
    """

    students: Sequence[Student]
    titles: dict[int, str]
    points: dict[int, float]
    scores: dict[tuple[int, int], Score] = field(default_factory=dict)
    unassigned: frozenset[tuple[int, int]] = frozenset()

    def export(self) -> str:
        """Grades, Export: with a column of the instructor's, a hidden assignment, read-only totals, a test student."""
        head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes"]
        numbers = list(self.titles)
        hidden = ["Manual Posting" if number == numbers[-1] else "" for number in numbers]
        rows: list[list[str]] = [
            [*head, *(f"{self.titles[number]} ({number})" for number in numbers), *TOTALS],
            [*[""] * len(head), *hidden, *[""] * len(TOTALS)],
            [
                "    Points Possible",
                *[""] * (len(head) - 1),
                *(f"{self.points[number]:.2f}" for number in numbers),
                *[_READ_ONLY] * len(TOTALS),
            ],
        ]
        for one in sorted(self.students, key=lambda one: one.sortable_name.casefold()):
            cells = [self._cell(one.canvas_id, number) for number in numbers]
            about = [one.sortable_name, str(one.canvas_id), one.sis_id, one.login, f"Section {one.number % 4}", ""]
            rows.append([*about, *cells, *["80.00"] * len(TOTALS)])
        rows.append(
            ["Student, Test", str(TEST_STUDENT), "", "7f3c9d", "Section 0", "", *[""] * (len(numbers) + len(TOTALS))]
        )
        made = io.StringIO()
        csv.writer(made, lineterminator="\n").writerows(rows)
        return made.getvalue()

    def _cell(self, student: int, assignment: int) -> str:
        if (student, assignment) in self.unassigned:
            return "N/A"
        score = self.scores.get((student, assignment))
        return f"{score:.2f}" if isinstance(score, float) else score or ""

    def take(self, text: str) -> None:
        """Grades, Import.

        Raises:
            Refused: it is no gradebook, or has an assignment or a student that Canvas does not know.
        """
        lines = [line for line in text.splitlines(keepends=True) if not re.fullmatch(r"[;, ]+", line.strip("\r\n"))]
        semicolons = _fields(lines[:3], ";") > _fields(lines[:3], ",")
        head, *rows = csv.reader(lines, delimiter=";" if semicolons else ",", strict=True)
        columns = self._columns(head)
        possible: list[str] = []
        for row in ([_number(cell) for cell in row] for row in rows):
            if "Points Possible" in row[0]:
                possible = row
                self.points |= {number: float(row[at]) for number, at in columns.items() if _is_number(row[at])}
            elif not all(re.fullmatch(r"(?i)\s*(Muted|Manual Posting.*)?\s*", cell) for cell in row if cell):
                student = self._student(row)
                for number, at in columns.items():
                    if not (possible and re.search(r"read\s+only", possible[at])):
                        self._score(student, number, row[at].strip())

    def _columns(self, head: Sequence[str]) -> dict[int, int]:
        """The place of each assignment in a row."""
        if not (len(head) > 3 and "Student" in head[0] and "ID" in head[1]):
            raise Refused("Invalid header row")
        about = 3
        if re.search(r"SIS\s+Login\s+ID", head[2]):
            about = 4
        elif re.search(r"SIS\s+User\s+ID", head[2]) and re.search(r"SIS\s+Login\s+ID", head[3]):
            about = 5
        about += "Notes" in head  # a column of the instructor's own, which this course has
        if "Section" not in head[about - 1 - ("Notes" in head)]:
            raise Refused("Invalid header row")
        found = {}
        for at, column in list(enumerate(head))[about:]:
            if _NO_ASSIGNMENTS.search(column):
                continue
            named = re.fullmatch(r"(.*)\s\((\d+)\)", column)
            number = int(named[2]) if named and int(named[2]) in self.titles else None
            if number is None:
                number = next((one for one, title in self.titles.items() if title == column), None)
            if number is None:
                raise Refused(f"a new assignment {column}")
            found[number] = at
        return found

    def _student(self, row: Sequence[str]) -> int:
        """By Canvas's number, by the registrar's, by the login, and only then by the first of that name."""
        if row[1] == str(TEST_STUDENT):
            return TEST_STUDENT
        for told, about in ((row[1], "canvas_id"), (row[2], "sis_id"), (row[3], "login")):
            found = [one for one in self.students if told and str(getattr(one, about)) == told]
            if found:
                return found[0].canvas_id
        for one in self.students:
            if row[0] in (one.sortable_name, one.full_name):
                return one.canvas_id
        raise Refused(f"a new student {row[0]}")

    def _score(self, student: int, assignment: int, cell: str) -> None:
        """An empty cell removes a score; one for a student who has not to do it is passed over."""
        if (student, assignment) in self.unassigned:
            return
        if cell and cell.upper() != "EX" and not _is_number(cell):
            raise Refused(f"a score {cell}")
        self.scores[student, assignment] = "EX" if cell.upper() == "EX" else float(cell) if cell else None


def download(works: Mapping[Student, tuple[str, bytes, bool]]) -> dict[str, bytes]:
    """Download Submissions: each student's last file, by its name, its bytes and whether it came late."""
    files = {}
    for student, (name, content, is_late) in works.items():
        who = re.sub(r"[\W_]+", "", f"{student.last}{student.first}").lower()
        number = 70_000 + student.number
        files[f"{who}_{'LATE_' if is_late else ''}{student.canvas_id}_{number}_{name}"] = content
    return files


def _fields(lines: Sequence[str], delimiter: str) -> int:
    """How many values all of some lines have; 0 where they do not agree."""
    counts = {len(next(csv.reader([line], delimiter=delimiter))) for line in lines}
    return counts.pop() if len(counts) == 1 else 0


def _number(cell: str) -> str:
    """`decimal_comma_to_period`: of several points and commas, the last one is the decimal point."""
    if not re.fullmatch(r"-?[0-9.,]+%?", cell):
        return cell
    *whole, last = re.split("[,.]", cell)
    return f"{''.join(whole)}.{last}" if whole else last


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", cell) is not None
