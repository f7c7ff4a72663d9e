"""One question, all students: what waits, what is alike and gets the same grade once, and who graded how many."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from course.grading.nbgrader_bridge.rubric.alike_answers import Change, GradedTexts, changes, is_near, words
from course.grading.nbgrader_bridge.rubric.class_answers import ClassAnswers
from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog
from course.grading.nbgrader_bridge.rubric.marks import AnswerMarks, Impossible, Outdated
from tests.grading.nbgrader_bridge.rubric.test_marks import QUESTION, TOPIC, UP

LONG = "The variance of a dot product grows with the width, so large scores make the softmax choose one word alone."
TEXTS = {
    "ada": LONG,
    "bob": LONG.replace(",", "").upper().replace(" SO", "  so"),
    "cy": LONG.replace("one word", "one token"),
    "dan": "Large scores saturate the softmax.",
    "eve": "",
}


@pytest.mark.parametrize(
    ("here", "there", "near"),
    [
        (LONG, TEXTS["bob"], True),
        (LONG, TEXTS["cy"], True),
        (LONG, LONG + " And then the gradient through it is tiny.", False),
        ("It is 3.", "It is 4.", False),
        ("x - y", "x + y", False),
        ("", "", False),
        ("?", "!", False),
    ],
)
def test_nearly_equal_is_nine_tenths_of_the_words(here: str, there: str, near: bool) -> None:
    assert is_near(words(here), words(there)) is is_near(words(there), words(here)) is near


def test_differences_are_told_word_by_word() -> None:
    found = list(changes("One word alone wins.", "One token  wins. Here."))
    assert found == [
        Change("same", "One"), Change("only here", " word alone"), Change("only there", " token"),
        Change("same", "  wins."), Change("only there", " Here."),
    ]  # fmt: skip
    assert "".join(one.text for one in found if one.kind != "only here") == "One token  wins. Here."


def test_a_text_is_read_again_after_its_file_changed(tmp_path: Path) -> None:
    path, texts = tmp_path / "graded.ipynb", GradedTexts()
    for number, answer in enumerate(("first", "second")):
        marks = {"nbgrader": {"grade_id": QUESTION, "grade": True}}
        cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": marks, "source": [answer, "\n"]}]
        path.write_text(json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": ""}, *cells]}))
        os.utime(path, (number, number))
        assert texts.read(path, QUESTION) == f"{answer}\n"
    path.write_text("[]")
    assert texts.read(path, QUESTION) is texts.read(tmp_path / "none.ipynb", QUESTION) is None


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Gradebook]:
    """The answers wait, but for Eve's empty one, which nbgrader gave 0 points. Fay's notebook is not graded yet."""
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        book.add_assignment(TOPIC)
        book.add_notebook(TOPIC, TOPIC)
        book.add_grade_cell(QUESTION, TOPIC, TOPIC, max_score=2, cell_type="markdown")
        book.add_solution_cell(QUESTION, TOPIC, TOPIC)
        for student in (*TEXTS, "fay"):
            book.add_student(student)
            book.add_submission(TOPIC, student)
        grade = book.find_grade(QUESTION, TOPIC, TOPIC, "eve")
        grade.auto_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
        yield book


def of(book: Gradebook, folder: Path, student: str) -> ClassAnswers:
    notebook = book.find_submission_notebook(TOPIC, TOPIC, student)
    log = GradingLog(folder)
    marks = AnswerMarks(book, notebook, QUESTION, UP, log)
    return ClassAnswers(book, notebook.id, marks, log, TEXTS.get)


def ids(book: Gradebook) -> dict[str, str]:
    return {one.student.id: one.id for one in book.notebook_submissions(TOPIC, TOPIC)}


def points(book: Gradebook, student: str) -> tuple[float | None, str | None, bool]:
    grade, comment = (find(QUESTION, TOPIC, TOPIC, student) for find in (book.find_grade, book.find_comment))
    return grade.manual_score, comment.manual_comment, grade.needs_manual_grade


def grade(answers: ClassAnswers, grader: str, **wanted: object) -> None:
    marks = answers.here.marks  # type: ignore[union-attr]
    marks.change({"version": marks.version, **(wanted or {"criterion": "Scale", "take": True})}, grader)


def test_what_waits_is_counted_and_next_in_turn(book: Gradebook, tmp_path: Path) -> None:
    about = of(book, tmp_path, "ada").described("ann")
    assert [about[name] for name in ("answers", "open", "again", "empty", "graded")] == [5, 4, 0, 1, 0]
    assert about["shares"] == [] and about["given"] == {}
    waiting, seen = {name for name in ids(book) if name not in ("eve", "fay")}, []
    here = "ada"
    for _ in waiting:
        grade(of(book, tmp_path, here), "ann")
        seen.append(here)
        there = of(book, tmp_path, here).next
        here = next((name for name, submission in ids(book).items() if submission == there), "")
    assert set(seen) == waiting and here == ""
    grade_again = book.find_grade(QUESTION, TOPIC, TOPIC, "dan")
    grade_again.needs_manual_grade = True
    book.db.commit()
    about = of(book, tmp_path, "ada").described("ann")
    assert (about["open"], about["again"], about["graded"], about["next"]) == (1, 1, 3, ids(book)["dan"])
    assert of(book, tmp_path, "dan").next is None


def test_who_graded_how_many_and_how_often_a_criterion_was_given(book: Gradebook, tmp_path: Path) -> None:
    grade(of(book, tmp_path, "ada"), "ben")
    grade(of(book, tmp_path, "ada"), "ann", criterion="Softmax", take=True)
    grade(of(book, tmp_path, "bob"), "ann")
    book.find_grade(QUESTION, TOPIC, TOPIC, "cy").manual_score = 1.0
    book.find_grade(QUESTION, TOPIC, TOPIC, "cy").needs_manual_grade = False
    book.db.commit()
    about = of(book, tmp_path, "dan").described("ann")
    assert about["shares"] == [["ann", True, 2], ["", False, 1]] and about["given"] == {"Scale": 2, "Softmax": 1}


def test_alike_answers_get_the_same_grade_once(book: Gradebook, tmp_path: Path) -> None:
    ada, known = of(book, tmp_path, "ada"), ids(book)
    alike = {one["id"]: (one["equal"], one["changes"]) for one in ada.described("ann")["alike"]}
    assert set(alike) == {known["bob"], known["cy"]} and alike[known["bob"]] == (True, [])
    told = [change["text"] for change in alike[known["cy"]][1] if change["kind"] != "same"]
    assert alike[known["cy"]][0] is False and told == [" word", " token"]
    grade(ada, "ann")
    version = ada.here.marks.version  # type: ignore[union-attr]
    assert ada.give([known["bob"], known["dan"], known["eve"]], version, "ann") == 1
    assert points(book, "bob") == points(book, "ada") == (0.75, "- Scale (+0.75)", False)
    assert points(book, "cy") == points(book, "dan") == (None, None, True)
    (save,) = GradingLog(tmp_path).saves(Answer(TOPIC, "bob", QUESTION))
    assert (save.grader, save.points, save.criteria, save.by_hand) == ("ann", 0.75, ("Scale",), False)


def test_nobodys_points_or_comment_are_replaced(book: Gradebook, tmp_path: Path) -> None:
    grade(of(book, tmp_path, "bob"), "ben", criterion="Mixed up", take=True)
    grade(of(book, tmp_path, "cy"), "ben", manual_comment="See me.")
    ada, known = of(book, tmp_path, "ada"), ids(book)
    with pytest.raises(Impossible, match="not graded yet"):
        ada.give(list(known.values()), ada.here.marks.version, "ann")  # type: ignore[union-attr]
    version = ada.here.marks.version  # type: ignore[union-attr]
    grade(ada, "ann")
    with pytest.raises(Outdated):
        ada.give(list(known.values()), version, "ann")
    assert ada.give(list(known.values()), ada.here.marks.version, "ann") == 0  # type: ignore[union-attr]
    assert points(book, "bob") == (0.0, "- Mixed up (−0.5)", False) and points(book, "cy") == (None, "See me.", True)
