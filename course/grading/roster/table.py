"""Read a table that a platform or a spreadsheet program saved as CSV, and detect its encoding and delimiter."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from course.grading.problem import Problem

Row = dict[str, str]
Line = tuple[str, ...]

WINDOWS = "Windows-1252"

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
    for codec, name in _codecs(data):
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if not re.search(r"[\x00-\x08\x0e-\x1f]", text):
            return text.lstrip("\ufeff"), name
    raise Problem(f"{path} is not a CSV file, because it is not text. {AS_CSV}, and name that file")


def _codecs(data: bytes) -> Sequence[tuple[str, str]]:
    """Return the possible encodings of a file, by Python's name and ours, the most likely first."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return [("utf-16", "UTF-16")]
    if b"\0" in data[:2]:  # UTF-16 without a byte order mark: one byte of an ASCII letter is zero
        return [("utf-16-be" if data.startswith(b"\0") else "utf-16-le", "UTF-16")]
    return [("utf-8-sig", "UTF-8"), ("cp1252", WINDOWS)]


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
