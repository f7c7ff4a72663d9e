"""Which questions stand on a sheet."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest

from course.grading.viva.sheets import Given, Sheet, draw
from tests.grading.viva.made_up import pool, question, sheet

FIVE = pool("a", "b", "c", "d", "e", each=9)


@pytest.mark.parametrize(
    ("exercises", "most", "counts"),
    [("abcde", 4, [1, 1, 1, 1]), ("abc", 4, [2, 1, 1]), ("ab", 4, [2, 2]), ("a", 4, [2]), ("abcd", 6, [2, 2, 1, 1])],
)
def test_each_question_is_about_another_exercise_while_there_are_enough(exercises, most, counts):
    asked = draw(pool(*exercises), most, "ada", Given([]), "chance")
    names = [one.exercise for one in asked]
    assert sorted(Counter(names).values(), reverse=True) == counts
    assert names == sorted(names) and len({one.identity for one in asked}) == len(asked)


def test_two_sheets_for_one_code_share_at_most_one_question():
    given, sheets = Given([]), []
    for number in range(30):
        asked = draw(FIVE, 4, f"student {number}", given, f"chance {number}")
        assert not given.overlap(asked)
        sheets.append(Sheet(f"06-1-{number}", f"student {number}", asked))
        given.add(sheets[-1])
    for one, other in combinations(sheets, 2):
        assert len({a.identity for a in one.asked} & {b.identity for b in other.asked}) <= 1


def test_a_second_sheet_asks_nothing_that_the_student_knows():
    first = Sheet("", "ada", draw(FIVE, 4, "ada", Given([]), "1"))
    again = draw(FIVE, 4, "ada", Given([], [first]), "1")
    assert not {one.identity for one in again} & {one.identity for one in first.asked}


def test_the_same_chance_gives_the_same_sheet_and_another_one_another():
    one, same, other = (draw(FIVE, 4, "ada", Given([]), chance) for chance in ("1", "1", "2"))
    assert one == same != other


def test_the_choices_of_a_shared_question_stand_in_another_order_with_the_key_at_the_right_one():
    asked = [one for number in range(20) for one in draw(pool("a", each=3), 4, "ada", Given([]), str(number))]
    same = [one.question for one in asked if one.identity == asked[0].identity]
    assert len({one.choices for one in same}) > 2 and len({one.key for one in same}) > 1
    right = {question.text: question.choices[question.key] for question in pool("a", each=3)["a"]}
    assert all(one.question.choices[one.question.key] == right[one.question.text] for one in asked)


def test_long_code_gives_way_to_code_that_fits_onto_three_pages():
    long = question("long", 0, code="\n".join(f"{n:3} x = {n}" for n in range(45)))
    both = {name: (replace(long, about=name), *pool(name)[name][1:]) for name in "abcd"}
    asked = draw(both, 4, "ada", Given([]), "chance")
    assert sum(one.rows for one in asked) <= 150


def test_a_sheet_stays_while_its_code_is_the_same_and_passes():
    made = Sheet("06-1-A", "ada", draw(FIVE, 4, "ada", Given([]), "1"), "code", 4)
    assert made.is_of("code", "abcde", 4)
    assert not made.is_of("other", "abcde", 4) and not made.is_of("code", "abcde", 3) and not made.is_of("code", "a", 4)
    assert Sheet.from_plain(made.to_plain()) == made


def test_a_number_names_the_questions_and_is_given_once():
    one = sheet("ada", "ABCD")
    assert re.fullmatch(r"06-1-[A-Z][0-9A-Z]{4}", one.number)
    assert sheet("ada", "ABCD").number == one.number != sheet("ada", "ABCA").number
    assert sheet("ada", "ABCD", known=(one.number,)).number != one.number
