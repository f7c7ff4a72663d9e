"""Points and comments of an answer in the gradebook, changed by criteria and by hand, and who did it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook

from course.grading.nbgrader_bridge.rubric.grading_log import GradingLog
from course.grading.nbgrader_bridge.rubric.handlers import grader_of
from course.grading.nbgrader_bridge.rubric.marks import AnswerMarks, Impossible, Outdated
from course.outline import Criterion, Rubric

TOPIC, QUESTION = "06_self_attention", "self_attention_question"
UP = Criterion("Scale", 0.75), Criterion("Softmax", 1.5), Criterion("Mixed up", -0.5)
DOWN = Criterion("No scale", -0.75), Criterion("Nice.", 0.0)


@pytest.fixture
def books(tmp_path: Path) -> Iterator[list[Gradebook]]:
    """The gradebook as two servers have it open; Ada's and Bob's answers wait."""
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    with Gradebook(url) as one, Gradebook(url) as other:
        one.add_assignment(TOPIC)
        one.add_notebook(TOPIC, TOPIC)
        one.add_grade_cell(QUESTION, TOPIC, TOPIC, max_score=2, cell_type="markdown")
        one.add_solution_cell(QUESTION, TOPIC, TOPIC)
        for student in ("ada", "bob"):
            one.add_student(student)
            one.add_submission(TOPIC, student)
        yield [one, other]


def marks(book: Gradebook, folder: Path, rubric: Rubric = UP, student: str = "ada") -> AnswerMarks:
    notebook = book.find_submission_notebook(TOPIC, TOPIC, student)
    return AnswerMarks(book, notebook, QUESTION, rubric, GradingLog(folder))


def now(one: AnswerMarks) -> tuple[float | None, str | None, bool]:
    return one.grade.manual_score, one.comment.manual_comment, one.grade.needs_manual_grade


def take(one: AnswerMarks, wording: str, grader: str = "ann", take: bool = True) -> None:
    one.change({"version": one.version, "criterion": wording, "take": take}, grader)


def test_criteria_give_points_and_nothing_taken_waits_again(books: list[Gradebook], tmp_path: Path) -> None:
    ada = marks(books[0], tmp_path)
    take(ada, "Scale")
    assert now(ada) == (0.75, "- Scale (+0.75)", False)
    take(ada, "Softmax")
    assert now(ada) == (2.0, "- Scale (+0.75)\n- Softmax (+1.5)", False), "no more than the question has"
    take(ada, "Scale", take=False)
    take(ada, "Softmax", take=False)
    assert now(ada) == (None, None, True)


def test_deductions_follow_full_credit(books: list[Gradebook], tmp_path: Path) -> None:
    ada = marks(books[0], tmp_path, DOWN)
    ada.change({"version": ada.version, "manual_score": 2}, "ann")
    take(ada, "No scale")
    assert now(ada) == (1.25, "- No scale (−0.75)", False)
    take(ada, "No scale", take=False)
    take(ada, "Nice.")
    assert now(ada)[:2] == (2.0, "- Nice.")


def test_points_by_hand_stay_until_the_grader_wants_the_sum(books: list[Gradebook], tmp_path: Path) -> None:
    ada = marks(books[0], tmp_path)
    take(ada, "Scale")
    ada.change({"version": ada.version, "manual_score": "1.25", "extra_credit": ""}, "ann")
    take(ada, "Mixed up")
    assert now(ada) == (1.25, "- Scale (+0.75)\n- Mixed up (−0.5)", False) and ada.described("ann")["by_hand"]
    ada.change({"version": ada.version, "use_rubric": True}, "ann")
    assert now(ada)[0] == 0.25 and not ada.described("ann")["by_hand"]


def test_points_by_hand_stay_where_the_sum_happens_to_be_the_same(books: list[Gradebook], tmp_path: Path) -> None:
    ada = marks(books[0], tmp_path, UP)
    take(ada, "Scale")
    ada.change({"version": ada.version, "manual_score": 0.25}, "ann")
    take(ada, "Mixed up")
    assert now(ada)[0] == ada.described("ann")["sum"] == 0.25
    take(ada, "Softmax")
    assert now(ada)[0] == 0.25 and ada.described("ann")["sum"] == 1.75


def test_a_changed_rubric_changes_no_grade_until_it_is_wanted(books: list[Gradebook], tmp_path: Path) -> None:
    take(marks(books[0], tmp_path), "Scale")
    ada = marks(books[0], tmp_path, (Criterion("Scale", 1.0), *UP[1:]))
    assert now(ada)[0] == 0.75 and ada.described("ann")["sum"] == 1.0 and ada.described("ann")["by_hand"]
    ada.change({"version": ada.version, "use_rubric": True}, "ann")
    assert now(ada)[:2] == (1.0, "- Scale (+1)")


def test_two_graders_never_overwrite_each_other_unasked(books: list[Gradebook], tmp_path: Path) -> None:
    anns, bens = (marks(book, tmp_path) for book in books)
    seen = bens.version
    take(anns, "Scale", "ann")
    with pytest.raises(Outdated):
        bens.change({"version": seen, "manual_score": 0}, "ben")
    assert now(bens) == (0.75, "- Scale (+0.75)", False), "ben reads what ann saved"
    bens.change({"version": bens.version, "manual_score": 0}, "ben")
    saves = GradingLog(tmp_path).saves(anns.answer)
    assert [(one.grader, one.points, one.criteria) for one in saves] == [
        ("ann", 0.75, ("Scale",)),
        ("ben", 0, ("Scale",)),
    ]
    assert all(one.at.endswith("+00:00") for one in saves)


def test_what_another_program_changed_is_noticed(books: list[Gradebook], tmp_path: Path) -> None:
    ada, other = (marks(book, tmp_path) for book in books)
    take(ada, "Scale")
    seen = ada.version
    assert not ada.described("ann")["changed_elsewhere"]
    other.grade.manual_score = 2.0
    books[1].db.commit()
    with pytest.raises(Outdated):
        ada.change({"version": seen, "manual_comment": "Hm."}, "ann")
    assert ada.described("ann")["changed_elsewhere"] and ada.grade.manual_score == 2.0


@pytest.mark.parametrize(
    "wanted", [{"criterion": "Scales", "take": True}, {"manual_score": "much"}, {"manual_score": "nan"}]
)
def test_an_impossible_change_changes_nothing(books: list[Gradebook], tmp_path: Path, wanted: dict) -> None:
    ada = marks(books[0], tmp_path)
    with pytest.raises(Impossible):
        ada.change({"version": ada.version, **wanted}, "ann")
    assert now(ada) == (None, None, True) and GradingLog(tmp_path).saves(ada.answer) == []


def test_a_save_without_a_change_is_not_noted(books: list[Gradebook], tmp_path: Path) -> None:
    """Formgrader saves a field twice when it goes on to the next submission."""
    ada = marks(books[0], tmp_path)
    for change in ({"manual_comment": ""}, *2 * [{"manual_score": "1.5"}], {"manual_comment": None}):
        ada.change({"version": ada.version, **change}, "ann")
    assert now(ada) == (1.5, None, False)
    assert [one.points for one in GradingLog(tmp_path).saves(ada.answer)] == [1.5]


def test_comments_of_the_class_are_counted(books: list[Gradebook], tmp_path: Path) -> None:
    ada, bob = (marks(books[0], tmp_path, student=student) for student in ("ada", "bob"))
    ada.change({"version": ada.version, "manual_comment": "Why?\n\nSee topic 03."}, "ann")
    take(ada, "Scale")
    bob.change({"version": bob.version, "manual_comment": "See topic 03."}, "ben")
    assert bob.used_before() == [("See topic 03.", 2), ("Why?", 1)]


def test_a_grader_is_called_as_the_hub_or_jupyter_or_the_system_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTERHUB_USER", raising=False)
    monkeypatch.setenv("LOGNAME", "login")
    nameless = SimpleNamespace(username="0123456789abcdef" * 2, name="Anonymous Io")
    assert grader_of(SimpleNamespace(username="ann")) == "ann"
    assert grader_of(nameless) == grader_of(None) == "login"
    monkeypatch.setenv("JUPYTERHUB_USER", "hub-name")
    assert grader_of(nameless) == "hub-name"
