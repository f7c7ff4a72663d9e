"""Update the students of a class from a class list: Canvas's, Moodle's, or a table made by hand."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from unicodedata import normalize

from course.grading.gradebook.students import MOST_TOLD, Changes, Person, some, update_students
from course.grading.intake.untrusted import WINDOWS, printable, refuse_name, texts_of
from course.problem import Problem

Row = dict[str, str]
Line = tuple[str, ...]

NO_TABLES = {
    b"PK\x03\x04": "a workbook",
    b"\xd0\xcf\x11\xe0": "a workbook",
    b"%PDF-": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"<": "a web page",
}
"""The first bytes of files that are often mistaken for CSV files, and the kind of file."""

AS_CSV = 'Save it as "CSV UTF-8"'


@dataclass(frozen=True)
class Table:
    """The lines of a CSV file below its `columns`.

    Args:
        numbers: the line number in the file at which each line ends.
        delimiter: the delimiter between values.
        encoding: the encoding of the file: UTF-8, UTF-16 or Windows-1252.
    """

    path: Path
    columns: Line
    lines: tuple[Line, ...]
    numbers: tuple[int, ...] = ()
    delimiter: str = ","
    encoding: str = "UTF-8"

    @classmethod
    def read(cls, path: Path) -> Table:
        """Read the file at `path`, with commas, semicolons or tabs as delimiters.

        A line has as many values as there are columns, or more; blank lines are skipped.

        Raises:
            Problem: the file cannot be read, or is no table.
        """
        try:
            text, encoding = _decoded(path.read_bytes(), path)
        except OSError as error:
            raise Problem(f"{path} cannot be read: {error.strerror}") from error
        text, delimiter = _without_mark(text)
        numbered = list(_numbered(text, delimiter, path))
        if not numbered:
            raise Problem(f"{path} is empty. Export it again")
        (_, columns), *rest = numbered
        lines = tuple(line + ("",) * (len(columns) - len(line)) for _, line in rest)
        return cls(path, columns, lines, tuple(number for number, _ in rest), delimiter, encoding)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Return the lines as dictionaries by column name; of columns with equal names, the last one counts."""
        return tuple(dict(zip(self.columns, line)) for line in self.lines)

    def notes(self) -> list[str]:
        """Return a note with an example name to check, if the file's encoding was guessed."""
        if self.encoding != WINDOWS:
            return []
        cells = (" ".join(cell.split()) for line in (self.columns, *self.lines) for cell in line if not cell.isascii())
        example = next(cells, "")
        told = f"{self.path.name} is not in UTF-8 and was read as {WINDOWS}"
        return [f"{told}. Check that this looks right: {example:.60}"]

    def place(self, column: str) -> int:
        """Return the index of a column's values in a line; of columns with equal names, the last one counts."""
        return len(self.columns) - 1 - self.columns[::-1].index(column)

    def need(self, *names: str) -> None:
        """Require the columns `names`.

        Raises:
            Problem: one of the columns is missing.
        """
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise Problem(
                f"{self.path} has no column {' and no column '.join(missing)}, so it is not the file that "
                "the platform exports. Download it again"
            )

    def only(self, keep: Callable[[Sequence[str]], bool]) -> Table:
        """Return the table with only the lines that `keep` accepts."""
        kept = [(line, number) for line, number in zip(self.lines, self.numbers, strict=True) if keep(line)]
        return replace(self, lines=tuple(line for line, _ in kept), numbers=tuple(number for _, number in kept))

    def with_column(self, name: str, value: Callable[[Row], str]) -> Table:
        """Return the table with another column after all others."""
        lines = (
            (*line[: len(self.columns)], value(row), *line[len(self.columns) :])
            for line, row in zip(self.lines, self.rows)
        )
        return replace(self, columns=(*self.columns, name), lines=tuple(lines))


def _decoded(data: bytes, path: Path) -> tuple[str, str]:
    """Return the text of a file, and its encoding.

    Raises:
        Problem: the file is no text.
    """
    for beginning, kind in NO_TABLES.items():
        if data.lstrip().startswith(beginning):
            raise Problem(f"{path} is {kind}, not a CSV file. {AS_CSV}, and name that file")
    for text, name in texts_of(data):
        if not re.search(r"[\x00-\x08\x0e-\x1f]", text):
            return text.lstrip("\ufeff"), name
    raise Problem(f"{path} is not a CSV file, because it is not text. {AS_CSV}, and name that file")


def _without_mark(text: str) -> tuple[str, str]:
    """Return the text without Excel's line `sep=...`, and the delimiter."""
    if named := re.match(r'"?sep=(.)"?\r?\n', text):
        return "\n" + text[named.end() :], named[1]  # keeps the line numbers
    first = next((line for line in text.splitlines() if line.strip(" ,;\t")), "")
    first = re.sub(r'"[^"]*"', "", first)  # a quoted name may contain commas
    return text, max(",;\t", key=(first or text).count)


def _numbered(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, Line]]:
    """Yield the lines that are not blank, each with its number.

    Raises:
        Problem: a line is not valid CSV.
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    done = 0
    try:
        for line in reader:
            done = reader.line_num
            if any(cell.strip() for cell in line):
                yield done, tuple(line)
    except csv.Error as error:
        where = f"{path} cannot be read from line {done + 1} on ({error})"
        raise Problem(f"{where}. Remove the extra quotation mark there, or export it again") from None


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


def update_roster(
    root: Path, table: Table, id_column: str | None = None
) -> tuple[list[str], list[str], dict[str, str]]:
    """Update the gradebook from a class list; with `id_column`, that column has the students' ids.

    All changes are written in one transaction.

    Returns:
        Lines on the changes, notes to check, and the gradebook's ids of the students by the platform's numbers.

    Raises:
        Problem: the table is no class list.
    """
    from course.grading.nbgrader_bridge.config_file import load_config
    from course.grading.nbgrader_bridge.patches import cache_lookups, gradebook_transaction

    listed = read_people(table, id_column)
    config = load_config(root)
    db_url = config.CourseDirectory.db_url
    cache_lookups()
    with gradebook_transaction(db_url):
        changes = update_students(db_url, listed.people, config)
    notes, name = list(listed.notes), table.path.name
    if changes.unlisted:
        notes.append(f"these are in the gradebook but not in {name}, and stay unchanged: {some(changes.unlisted)}")
    if changes.renamed:
        told = some([f"{student} (in the gradebook {known})" for student, known in changes.renamed.items()])
        notes.append(
            f"{name} has other ids for students whom the gradebook knows already: {told}. They keep those of the "
            "gradebook, so have them hand in by these"
        )
    whole = listed.id_column if listed.is_whole else f"{listed.id_column}, without the @ and what follows"
    pairs = zip(listed.people, changes.ids, strict=True)
    numbers = {number: student for person, student in pairs if (number := person.about.get("lms_user_id"))}
    return list(_told(changes, name, whole)), notes, numbers


def _told(changes: Changes, name: str, id_column: str) -> Iterator[str]:
    """Yield lines on the changes that a class list made."""
    counts = f"{len(changes.added)} added, {len(changes.updated)} updated, {changes.same} unchanged"
    others = f", but for {len(changes.renamed)} who keep those of the gradebook" if changes.renamed else ""
    yield f"{name}: {counts}. Students hand in by the ids in its column {id_column}{others}"
    if changes.added:
        yield f"  added: {some(changes.added)}"
    for student in list(changes.updated)[:MOST_TOLD]:
        yield f"  updated: {student}, {changes.updated[student]}"
    if len(changes.updated) > MOST_TOLD:
        yield f"  updated: {len(changes.updated) - MOST_TOLD} more"
