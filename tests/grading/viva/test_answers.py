"""Tables of answers as people fill them in, and the one sentence that each mistake gets."""

from __future__ import annotations

import pytest

from course.course import course_in
from course.grading.viva.answers import read_answers
from course.grading.viva.round import Round
from course.grading.viva.viva_command import mark_answers
from course.problem import Problem
from tests.grading.lesson import TOPIC, make_course
from tests.grading.viva.made_up import a_round, sheet

ADA, BOB = sheet("ada", "ABCD"), sheet("bob", "BB")
LATER = sheet("ada", "DDDD", seed=2)


@pytest.fixture
def of(tmp_path):
    a_round(tmp_path, LATER, seed=2)
    return a_round(tmp_path, ADA, BOB)


def table(of: Round, text: str):
    path = of.root / "answers.csv"
    path.write_text(text)
    return read_answers(path, of)


def test_letters_in_any_case_and_empty_cells(of):
    marked, away = table(of, "student,1,2,3,4\nada,a, B ,,D\nbob,,,,\n")
    assert [(one.student, one.right, len(one.counted)) for one in marked] == [("ada", 3, 4)]
    assert away == ["bob"]


def test_a_table_that_excel_saved_with_numbers_of_sheets(of):
    marked, _ = table(of, f"\ufeffstudent;sheet;1;2;3;4\nbob;{BOB.number.lower()};B;A;;\nada;;A;B;C;D\n")
    assert {one.student: one.right for one in marked} == {"ada": 4, "bob": 1}


def test_ids_as_a_spreadsheet_program_leaves_them(tmp_path):
    of = a_round(tmp_path, sheet("00123", "AB"), sheet("Ada", "AB"))
    marked, _ = table(of, "student,1,2\n123,A,\nADA,A,B\n")
    assert {one.student: one.right for one in marked} == {"00123": 1, "Ada": 2}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,1,2,3,4\nada,A,B,C,D\n", "line 1, has no column student. Write student,1,2,3,4"),
        ("student,1,2,3\nada,A,B,C\nbob,A,B,\n", "line 1, has no column 4"),
        ("student,1,2,3,4\nada,A,B,C,D\nbo,A,B,,\n", "line 3: bo has no sheet in .*06. Did you mean bob?"),
        ("student,1,2,3,4\nada,A,B,E,D\nbob,A,B,,\n", "line 2: ada answers question 3 with 'E'. Write one letter"),
        ("student,1,2,3,4\nada,AB,B,C,D\nbob,A,B,,\n", "line 2: ada answers question 1 with 'AB'. Write one letter"),
        ("student,1,2,3,4\nada,A,B,C,D\nbob,A,B,C,\n", "line 3: the sheet of bob has 2 questions, but column 3 holds"),
        ("student,1,2,3,4\nada,A,B,C,D\nada,A,B,C,D\n", "line 3: ada stands in line 2, too. Delete one"),
        ("student,1,2,3,4\nada,A,B,C,D\n", "has no line for bob. Add it, with empty cells"),
        (f"student,sheet,1,2,3,4\nada,{LATER.number},A,B,C,D\n", "of another round, .* you mark with --seed 2"),
        (f"student,sheet,1,2,3,4\nada,{BOB.number},A,B,C,D\n", f"belongs to bob. ada has {ADA.number}"),
        ("student,sheet,1,2,3,4\nada,06-1-XXXXX,A,B,C,D\n", "06-1-XXXXX was not made here. ada has"),
        ("", "is empty"),
    ],
)
def test_a_mistake_gets_a_sentence_with_file_line_and_what_to_do(of, text, says):
    with pytest.raises(Problem, match=says) as raised:
        table(of, text)
    assert "answers.csv" in str(raised.value) and str(raised.value).count(". ") <= 2


def test_nothing_is_written_until_the_table_is_right(tmp_path):
    root = make_course(tmp_path / "course")
    a_round(root, ADA)
    (root / "a.csv").write_text("student,1,2,3,4\nada,A,B,C,X\n")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".course" not in path.parts}
    with pytest.raises(Problem, match="line 2"):
        mark_answers(course_in(root), TOPIC, root / "a.csv")
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file() and ".course" not in path.parts}
    assert before == after


def test_code_that_changed_after_the_sheet_was_printed_is_marked_with_the_key_of_the_sheets_number(tmp_path):
    new = sheet("ada", "DDDD", known=(ADA.number,))
    of = a_round(tmp_path, ADA, new)
    with pytest.raises(Problem, match=f"ada has the sheets {ADA.number} and {new.number}.* Add a column sheet"):
        table(of, "student,1,2,3,4\nada,A,B,C,D\n")
    for one, right in ((ADA, 4), (new, 1)):
        marked, _ = table(of, f"student,sheet,1,2,3,4\nada,{one.number},A,B,C,D\n")
        assert [each.right for each in marked] == [right]


def test_without_sheets_it_says_how_to_make_them(tmp_path):
    (tmp_path / "a.csv").write_text("student,1\nada,A\n")
    with pytest.raises(Problem, match="Run `course viva 06_self_attention --seed 3` first"):
        read_answers(tmp_path / "a.csv", Round(tmp_path, TOPIC, 3))
