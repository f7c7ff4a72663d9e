"""Read the students of a class list from Canvas, from Moodle or made by hand, each with an id."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import normalize

from course.grading.gradebook.students import Person
from course.grading.intake.untrusted import printable, refuse_name
from course.grading.problem import Problem
from course.grading.roster.table import Row, Table

FIELDS = {
    "first_name": ("firstname", "givenname", "forename", "vorname"),
    "last_name": ("lastname", "surname", "familyname", "nachname"),
    "email": ("email", "emailaddress", "emailadresse", "mail"),
    "lms_user_id": ("lmsuserid",),
}
"""The column names for each of nbgrader's fields, in lower case and without spaces and punctuation."""

FULL_NAMES = ("student", "fullname", "vollständigername", "studentname", "name")

CANVAS_IDS = ("sisloginid", "sisuserid", "integrationid")

MOODLE_IDS = ("username", "anmeldename", "idnumber", "idnummer", *FIELDS["email"])

PLAIN_IDS = ("id", "username", "login", "loginid", "userid", "studentid", *CANVAS_IDS, *MOODLE_IDS)

EXACT = ("id",)
"""nbgrader's own column, whose values stay unchanged; in others, the id is the part of an email before its @."""

TEST_STUDENTS = ("student, test", "test student")
"""The names of the test student that Canvas adds to each course."""


@dataclass(frozen=True)
class ClassList:
    """The `people` of a table, the column that has their ids, and notes for the instructor."""

    people: tuple[Person, ...]
    id_column: str
    notes: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every id is a whole table cell, and none is only the part of an email before its @."""
        return all(len(person.ids) == 1 for person in self.people)


def read_people(table: Table, id_column: str | None = None) -> ClassList:
    """Return the students of a table; with `id_column`, that column has the ids.

    Raises:
        Problem: the table has no student, or an id is missing, no valid folder name, or used by two students.
    """
    called = {_plain(column): column for column in table.columns}
    is_canvas = _is_canvas(table)
    students, notes = _without_canvas_own(table) if is_canvas else (table, [])
    if not students.lines:
        raise Problem(f"{table.path} has no student below its first line. Check that it is the right file")
    column = _chosen(table, called, id_column) if id_column else _id_column(students, called, is_canvas)
    people: dict[str, tuple[Person, int]] = {}
    for person, number in _people(students, called, column, is_canvas):
        earlier, line = people.setdefault(person.id.casefold(), (person, number))
        if earlier != person:
            twice = f"{table.path} has {person.id} twice with different entries, in lines {line} and {number}"
            raise Problem(f"{twice}. Delete one of them, or choose another column with --id")
    return ClassList(tuple(person for person, _ in people.values()), column, (*table.notes(), *notes))


def _people(table: Table, called: dict[str, str], column: str, is_canvas: bool) -> Iterator[tuple[Person, int]]:
    """Yield every person with the line number in the file."""
    ids = [_trimmed(row[column]) for row in table.rows]
    short = {one: _short(one, column) for one in set(ids)}
    shared = {name for name, count in Counter(short.values()).items() if count > 1}
    for row, one, number in zip(table.rows, ids, table.numbers, strict=True):
        names = (one,) if short[one] in shared else tuple(dict.fromkeys((short[one], one)))
        _refuse_id(names[0], f"{table.path}, line {number}", column)
        about = _about(row, called)
        if is_canvas and "lms_user_id" not in about:
            about["lms_user_id"] = _trimmed(row[called["id"]])
        yield Person(names, {field: value for field, value in about.items() if value}), number


def _about(row: Row, called: dict[str, str]) -> dict[str, str]:
    """Return a row's facts about a student by nbgrader's field names."""
    about = {}
    for field, names in FIELDS.items():
        if found := [called[name] for name in names if name in called]:
            about[field] = _trimmed(row[found[0]])
    full = next((called[name] for name in FULL_NAMES if name in called), "")
    if full and not {"first_name", "last_name"} & about.keys():
        about["first_name"], about["last_name"] = _parted(_trimmed(row[full]))
    return about


def _parted(name: str) -> tuple[str, str]:
    """Split a full name, `Lovelace, Ada` or `Ada Lovelace`, into first and last name, by default the last word."""
    if ", " in name:
        last, _, first = name.partition(", ")
    else:
        first, _, last = name.rpartition(" ")
    return first, last


def _id_column(table: Table, called: dict[str, str], is_canvas: bool) -> str:
    """Return the first known id column that is not empty.

    Raises:
        Problem: there is no such column.
    """
    is_german_worksheet = "vollständigername" in called  # its ID column has the ids of submissions
    names = CANVAS_IDS if is_canvas else MOODLE_IDS if is_german_worksheet else PLAIN_IDS
    for name in names:
        if name in called and any(row[called[name]].strip() for row in table.rows):
            return called[name]
    there = ", ".join(printable(column) for column in table.columns[:8])
    raise Problem(
        f"{table.path} has no known column with ids. Choose one with --id from its first line, which has {there:.300}"
    )


def _chosen(table: Table, called: dict[str, str], wanted: str) -> str:
    """Return the column that the user chose with --id.

    Raises:
        Problem: there is no column of that name.
    """
    if wanted in table.columns:
        return wanted
    if _plain(wanted) in called:
        return called[_plain(wanted)]
    raise Problem(
        f"{table.path} has no column {wanted}. Its columns are {', '.join(map(printable, table.columns[:8])):.300}"
    )


def _refuse_id(name: str, where: str, column: str) -> None:
    """Raise a Problem for an invalid id.

    Raises:
        Problem: the id is empty, or cannot name a student's folder.
    """
    if not name:
        raise Problem(
            f"{where} has no id, because its {column} is empty. Fill it in, or choose another column with --id"
        )
    try:
        refuse_name(name)
    except Problem:
        name = f"{name}/"
    if "/" in name:
        told = f"{where} has {printable(name.removesuffix('/')):.60} for an id, which cannot name a student's folder"
        raise Problem(f"{told}. Correct it, or choose another column with --id")


def _is_canvas(table: Table) -> bool:
    """Whether Canvas exported the table, so that its `ID` column has Canvas's own numbers."""
    there = set(table.columns)
    return there >= {"Student", "ID", "Section"} or there >= {"LastName", "ID", "Section", "SIS Login ID"}


def _without_canvas_own(table: Table) -> tuple[Table, list[str]]:
    """Return the table without Canvas's "points possible" row and its test student, and a note about the latter."""
    at = table.place("ID")
    people = table.only(lambda line: bool(line[at].strip()))
    students = people.only(lambda line: _trimmed(", ".join(line[:at])).casefold() not in TEST_STUDENTS)
    return students, ["Canvas's test student is left out"] if len(students.lines) < len(people.lines) else []


def _short(one: str, column: str) -> str:
    return one if _plain(column) in EXACT else one.partition("@")[0] or one


def _plain(column: str) -> str:
    """Return a column name for comparison, so that `E-Mail-Adresse` equals `email adresse`."""
    return re.sub(r"[\W_]+", "", normalize("NFC", column).casefold())


def _trimmed(cell: str) -> str:
    return normalize("NFC", " ".join(cell.split()))
