"""Grades into a gradebook that Canvas exported: its columns are ours to fill in, and all else is Canvas's to keep."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from course.grading.export.canvas import write_canvas
from course.grading.gradebook.grades import Grade, Grades, StudentGrades
from course.problem import Problem
from tests.grading.lesson import NAME, TOPIC

from .test_tables import CLASS, RNN, rows, written

STUDENT = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]

EXPORTED = f"""\
Student,ID,SIS User ID,SIS Login ID,Section,Notes,Quiz (7),{NAME} (1234),Recurrent networks (99),Homework Current Score
,,,,,,,Manual Posting,,
    Points Possible,,,,,,10.00,22.00,20.00,(read only)
"Countess, Ada",101,b7,ADA@analytical.org,A,late,3.00,,,12.00
"O""Hara, Béa",102,B42,,A,,4.00,1.50,EX,13.00
"Guest, Gus",104,b4,gus@example.org,A,,4.00,EX,7.50,13.00
"Twin, Dan",103,b9,x@example.org,B,,5.00,N/A,-,14.00
"Student, Test",199,,d3f0,A,,,2.00,,
"""
"""As `gradebook_exporter.rb` writes it: a column of the instructor's, a hidden assignment, a read-only total."""


def filled(tmp_path: Path, text: str, grades: Grades = CLASS) -> tuple[list[list[str]], list[str]]:
    """The file for Canvas, and the notes."""
    notes = write_canvas(grades, tmp_path / "canvas.csv", written(tmp_path / "from.csv", text))
    return rows(tmp_path / "canvas.csv"), notes


def test_by_login_or_number_and_never_by_a_name_two_share(tmp_path):
    """Who has no grade here keeps what Canvas has: it takes an empty cell for a grade to be removed."""
    table, notes = filled(tmp_path, EXPORTED)
    assert table == [
        [*STUDENT, f"{NAME} (1234)", "Recurrent networks (99)"],
        ["    Points Possible", "", "", "", "", "22.00", "20.00"],
        ["Countess, Ada", "101", "b7", "ADA@analytical.org", "A", "21.5", "20"],
        ['O"Hara, Béa', "102", "B42", "", "A", "0.333333", "EX"],
        ["Guest, Gus", "104", "b4", "gus@example.org", "A", "EX", "7.50"],
        ["Twin, Dan", "103", "b9", "x@example.org", "B", "N/A", "-"],
        ["Student, Test", "199", "", "d3f0", "A", "2.00", ""],
    ]
    assert notes[1:] == ["left out, because from.csv does not have them: dan, eve"]


def test_a_gradebook_that_a_spreadsheet_program_saved_is_read_in_its_encoding(tmp_path):
    usual, _ = filled(tmp_path, EXPORTED)
    (tmp_path / "saved.csv").write_bytes(EXPORTED.encode("cp1252"))
    notes = write_canvas(CLASS, tmp_path / "canvas.csv", tmp_path / "saved.csv")
    assert rows(tmp_path / "canvas.csv") == usual
    assert notes[0].startswith("saved.csv is not in UTF-8 and was read as Windows-1252")


def one(*grades: tuple[str, float], points: float = 22.0) -> Grades:
    return Grades(
        (TOPIC,), {NAME: points}, tuple(StudentGrades(name, grades={NAME: Grade(score)}) for name, score in grades)
    )


def test_who_is_excused_in_canvas_stays_so_though_graded_here(tmp_path):
    lines = f"{','.join(STUDENT)},{NAME} (1)\n"
    lines += '"A, A",1,,ada,A,EX\n"B, B",2,,bea,A,ex\n"C, C",3,,cy,A,N/A\n"D, D",4,,dan,A,3\n'
    table, notes = filled(tmp_path, lines, one(("ada", 20.0), ("bea", 1.0), ("cy", 2.0), ("dan", 9.0)))
    assert [row[5] for row in table[2:]] == ["EX", "ex", "N/A", "9"]
    assert notes == [f"{NAME}: EX in Canvas stays for ada, bea", f"{NAME}: N/A in Canvas stays for cy"]


@pytest.mark.parametrize(
    ("worth", "score", "note"),
    [
        ("22.00", "11", []),
        ("100.00", "50", [f"{NAME}: scaled from 22 points to Canvas's 100"]),
        ('"5,50"', "2.75", [f"{NAME}: scaled from 22 points to Canvas's 5.5"]),
        ("0.00", "11", [f"{NAME} (1) has no points in Canvas, so its grades are not scaled. Give it 22 points there"]),
        ("", "11", [f"{NAME} (1) has no points in Canvas, so its grades are not scaled. Give it 22 points there"]),
    ],
)
def test_points_are_canvass(tmp_path, worth, score, note):
    """Its import would set an assignment to the points in the file, and leave the scores of everybody else."""
    text = f'{",".join(STUDENT)},{NAME} (1)\n    Points Possible,,,,,{worth}\n"A, A",1,,ada,A,\n"B, B",2,,b,A,44.50\n'
    table, notes = filled(tmp_path, text, one(("ada", 11.0)))
    assert [row[5] for row in table[1:]] == [worth.strip('"'), score, "44.50"]
    assert notes == note


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (["Self-attention (1)", f"{NAME} (2)"], f"{NAME} (2)"),
        ([f"{NAME} resit (1)", f"{NAME.upper()} (2)"], f"{NAME.upper()} (2)"),
        ([f"{NAME}"], f"{NAME}"),
        ([f"{TOPIC.title} (1)", "Other (2)"], f"{TOPIC.title} (1)"),
        ([f"{NAME} (1)", f"{NAME} (2)"], None),
        ([f"{TOPIC.title} (1)", f"6 {TOPIC.title} (2)"], None),
        ([NAME, NAME], None),
    ],
)
def test_of_several_columns_the_one_of_just_that_name(tmp_path, columns, chosen):
    text = f"{','.join([*STUDENT, *columns])}\n1,2,3,ada,5{',' * len(columns)}\n"
    if chosen is not None:
        assert filled(tmp_path, text, one(("ada", 11.0)))[0][0][-1] == chosen
        return
    with pytest.raises(Problem) as told:
        filled(tmp_path, text, one(("ada", 11.0)))
    assert str(told.value).endswith(
        f"from.csv has several columns for {NAME}: {', '.join(columns)}. Keep the one you mean and delete the others "
        "from that file"
    )
    assert not (tmp_path / "canvas.csv").exists()


def test_a_column_of_the_students_own_is_no_assignment(tmp_path):
    with pytest.raises(Problem, match="has no column for 03_rnn"):
        filled(tmp_path, "Student,ID,03_rnn,Section\n", Grades((RNN,), {RNN.folder: 20.0}, ()))


@pytest.mark.parametrize(
    ("worth", "says"), [("(read only)", "is read-only in Canvas"), ("ten", "Write a plain number")]
)
def test_points_that_are_none(tmp_path, worth, says):
    with pytest.raises(Problem, match=says):
        filled(tmp_path, f"{','.join(STUDENT)},{NAME} (1)\n    Points Possible,,,,,{worth}\n", one(("ada", 1.0)))


def test_with_semicolons_and_a_mark_at_its_beginning_and_names_in_two_columns(tmp_path):
    """As Canvas writes it for Excel in Europe; names with commas, of an assignment, too, are no columns."""
    text = (
        "\ufeffLastName;FirstName;ID;SIS User ID;SIS Login ID;Integration ID;Root Account;Section;"
        f'"Quiz, one, two, three, four, five, six, seven, eight, nine, ten (3)";{NAME} (1)\n'
        "    Points Possible;;;;;;;;;11,00\n"
        "Boole;Bea;7;;x@example.org;;uni.example.org;A;;1,50\n"
        "Byron, Lady;Ada;8;;y@example.org;;uni.example.org;A;;2,50\n"
    )
    bea = StudentGrades("b42", "Bea", "Boole", grades={NAME: Grade(10.0)})
    notes = write_canvas(
        Grades((TOPIC,), {NAME: 22.0}, (bea,)), tmp_path / "to.csv", written(tmp_path / "from.csv", text)
    )
    with (tmp_path / "to.csv").open(newline="", encoding="utf-8") as file:
        _, points, one_, other = csv.reader(file, delimiter=";")
    assert points[-1] == "11,00"
    assert one_ == ["Boole", "Bea", "7", "", "x@example.org", "", "uni.example.org", "A", "5"]
    assert other[:2] == ["Byron, Lady", "Ada"] and other[-1] == "2,50"
    assert notes == [f"{NAME}: scaled from 22 points to Canvas's 11"]
