"""Class lists as platforms and spreadsheet programs save them, and a sentence for each file that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.classroom.roster import Table
from course.problem import Problem

HEAD = ("id", "first_name", "last_name")
LINES = (("ada", "Ada", "Núñez, Jr."), ("bob", "Béla", "O'Hara"))


def saved(path: Path, delimiter: str, ends: str) -> str:
    rows = [HEAD, *LINES]
    return ends.join(delimiter.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows) + ends


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("codec", "named"),
    [
        *(("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16")),
        *(("utf-16-be", "UTF-16"), ("cp1252", "Windows-1252")),
    ],
)
def test_every_encoding_and_delimiter_gives_the_same_table(tmp_path, codec, named, delimiter, ends):
    path = tmp_path / "list.csv"
    path.write_bytes(saved(path, delimiter, ends).encode(codec))
    table = Table.read(path)
    assert (table.columns, table.lines, table.encoding, table.delimiter) == (HEAD, LINES, named, delimiter)
    assert bool(table.notes()) is (codec == "cp1252")


def test_what_was_read_as_windows_1252_is_to_be_looked_at(tmp_path):
    (tmp_path / "list.csv").write_bytes("id,last_name\nada,Núñez\n".encode("cp1252"))
    assert Table.read(tmp_path / "list.csv").notes() == [
        "list.csv is not in UTF-8 and was read as Windows-1252. Check that this looks right: Núñez"
    ]


def test_blank_rows_are_none_and_lines_are_the_files(tmp_path):
    """As a spreadsheet program writes them; Excel names its delimiter in a line of its own."""
    (tmp_path / "list.csv").write_text('sep=;\n;;\nid;name;\n\n;;\nada;"A\nL";\n  ;;\nbob;B;;;\n')
    table = Table.read(tmp_path / "list.csv")
    assert table.columns == ("id", "name", "") and table.delimiter == ";"
    assert table.lines == (("ada", "A\nL", ""), ("bob", "B", "", "", ""))
    assert table.numbers == (7, 9)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty. Export it again"),
        (b"\xef\xbb\xbf\n;;\n", "is empty. Export it again"),
        (b"PK\x03\x04\x14\x00", 'is a workbook, not a CSV file. Save it as "CSV UTF-8", and name that file'),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "is a workbook, not a CSV file"),
        (b"%PDF-1.7", "is a PDF, not a CSV file"),
        (b"\n<!DOCTYPE html>", "is a web page, not a CSV file"),
        (b"\x89PNG\r\n\x1a\n\x00\x81", "is a picture, not a CSV file"),
        (b"\x7fELF\x02\x01\x01\x00", "is not a CSV file, because it is not text"),
        (b"id,name\nada,\x81\n", "is not a CSV file, because it is not text"),
        (b"\xff\xfei\x00d\x00,", "is not a CSV file, because it is not text"),
        (
            b'id,name\nada,A\n\nbob,"B\ncy,C\n',
            "cannot be read from line 4 on (unexpected end of data). Remove the extra",
        ),
        (b'id,name\nada,"A" L\n', "cannot be read from line 2 on"),
    ],
)
def test_a_file_that_is_no_table(tmp_path, data, says):
    (tmp_path / "list.csv").write_bytes(data)
    with pytest.raises(Problem) as told:
        Table.read(tmp_path / "list.csv")
    assert says in str(told.value) and str(told.value).startswith(f"{tmp_path}/list.csv ")


def test_a_file_that_is_not_there_and_a_folder(tmp_path):
    for path, says in ((tmp_path / "no.csv", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(Problem, match=f"{path} cannot be read: {says}"):
            Table.read(path)
