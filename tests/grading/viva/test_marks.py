"""Marking, what chance alone gives, and what the files of a round hold."""

from __future__ import annotations

import pytest

from course.grading.viva.answers import read_answers
from course.grading.viva.marks import at_most, best_of_each, said_of_chance
from course.grading.viva.round import Round, rounds
from course.problem import Problem
from tests.grading.lesson import TOPIC
from tests.grading.viva.made_up import a_round, sheet

ADA = sheet("ada", "ABCD")


def mark(of: Round, row: str):
    path = of.root / "a.csv"
    path.write_text(f"student,1,2,3,4\n{row}\n")
    (marked,), _ = read_answers(path, of)
    return marked


def test_chance_with_four_questions():
    assert said_of_chance(4) == (
        "Guessing gets at most 1 of 4 right in 74 of 100 cases, and 3 or more in 5. Somebody who gets 85 of 100 such "
        "questions right gets at most 1 of 4 in 1 of 100."
    )
    assert "none of 3" in said_of_chance(3) and "all in 2" in said_of_chance(3)
    assert at_most(4, 4) == pytest.approx(1) and at_most(0, 2) == pytest.approx(9 / 16)


@pytest.mark.parametrize(("row", "is_weak"), [("ada,A,,,", True), ("ada,A,B,,", False), ("ada,D,D,A,A", True)])
def test_weak_is_no_better_than_guessing(tmp_path, row, is_weak):
    assert mark(a_round(tmp_path, ADA), row).is_weak is is_weak


def test_a_corrected_key_counts_and_survives_new_sheets(tmp_path):
    of = a_round(tmp_path, ADA)
    path = of.folder / "key.csv"
    path.write_text(
        path.read_text().replace("1,first,what happens,A", "1,first,what happens,").replace(",B\n", ",AB\n")
    )
    of.save([ADA, sheet("bob", "AAAA")])
    path.with_name("answers.csv").unlink()
    rows = [row for row in of.key_rows() if row.student == "ada"]
    assert [row.right for row in rows] == ["", "AB", "C", "D"]
    (tmp_path / "a.csv").write_text("student,1,2,3,4\nada,A,A,C,\nbob,,,,\n")
    (marked,), _ = read_answers(tmp_path / "a.csv", of)
    assert (marked.right, len(marked.counted)) == (2, 3)


def test_a_key_that_is_none_is_refused(tmp_path):
    of = a_round(tmp_path, ADA)
    path = of.folder / "key.csv"
    path.write_text(path.read_text().replace(",D\n", ",E\n"))
    with pytest.raises(Problem, match=r"key.csv, line 5, needs .* letters from A to D"):
        of.key_rows()


def test_the_better_of_two_sheets_counts(tmp_path):
    first, again = a_round(tmp_path, ADA), a_round(tmp_path, sheet("ada", "DDDD", seed=2), seed=2)
    first.save_results([mark(first, "ada,A,B,,")])
    again.save_results([mark(again, "ada,D,,,")])
    read = [one for each in rounds(tmp_path, TOPIC) for one in each.results()]
    assert [one.right for one in read] == [2, 1]
    assert best_of_each(read)["ada"].sheet == ADA.number
    again.save_results([mark(again, "ada,D,D,D,")])
    read = [one for each in rounds(tmp_path, TOPIC) for one in each.results()]
    assert best_of_each(read)["ada"].right == 3


def test_the_empty_table_is_renewed_until_somebody_has_entered_letters(tmp_path):
    of = a_round(tmp_path, ADA)
    path = of.folder / "answers.csv"
    assert path.read_text() == f"student,sheet,1,2,3,4\nada,{ADA.number},,,,\n"
    bob = sheet("bob", "AAAA")
    of.save([ADA, bob])
    assert f"bob,{bob.number}" in path.read_text()
    path.write_text(path.read_text().replace(f"{ADA.number},", f"{ADA.number},C"))
    of.save([ADA, bob, sheet("cy", "AAAA")])
    assert "cy" not in path.read_text() and ",C," in path.read_text()


def test_damaged_sheets_are_named(tmp_path):
    of = a_round(tmp_path, ADA)
    (of.folder / "sheets.json").write_text('[{"number": 3}]')
    with pytest.raises(Problem, match=r"sheets.json is damaged. Put a copy"):
        of.sheets()
