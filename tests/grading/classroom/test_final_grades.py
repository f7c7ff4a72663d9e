"""The final grades of a class, from the gradebook to the report and the platforms' tables."""

from __future__ import annotations

import csv
import shutil
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.course import Course, course_in
from course.grading.classroom.final_grades import final_grades
from course.grading.gradebook.extra_assignment import save_points
from course.problem import Problem
from tests.grading.lesson import NAME

DUE = datetime(2026, 1, 20, 12, 0, tzinfo=UTC)
FINAL = f"""
[final]
decimals = 0
extra_credit = ["softmax"]
[final.weights]
{NAME} = 3
{NAME}_viva = 1
[viva]
{NAME} = 4
[excused]
cy = ["{NAME}", "{NAME}_viva"]
[extensions]
yves = {{ "{NAME}" = "3 days" }}
"""


@pytest.fixture
def root(graded_class: Path, tmp_path: Path) -> Path:
    """A graded class, also with a viva that Ada and Bea took, and with Yves and Zoe, who handed in nothing."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    (root / "course.toml").write_text(f"[topics.{NAME}]\ndue = {DUE.isoformat()}\n{FINAL}", "utf-8")
    save_points(f"sqlite:///{root / 'gradebook.db'}", f"{NAME}_viva", 4, {"ada": 3.0, "bea": 0.1 + 0.2})
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for name in ("yves", "zoe"):
            gradebook.update_or_create_student(name)
        gradebook.db.commit()
    return root


def states(course: Course, days: float) -> dict[str, tuple[str, ...]]:
    found = final_grades(course, DUE + timedelta(days=days)).grades
    return {student: tuple(part.state for part in one.parts) for student, one in found.items()}


def test_what_counts_for_whom(root: Path) -> None:
    found = states(course_in(root), days=1)
    assert found["ada"] == found["bea"] == ("counts", "counts")
    assert found["cy"] == ("excused", "excused")
    assert found["dan"] == ("counts", "missing"), "who was not at the viva got nothing in it"
    assert found["fay"] == ("ungraded", "missing"), "it cannot be read"
    assert (found["yves"], found["zoe"]) == (("open", "open"), ("missing", "missing"))
    assert states(course_in(root), days=4)["yves"] == ("missing", "missing")


def test_the_numbers_are_those_of_the_gradebook(root: Path) -> None:
    """The exercise that is extra credit adds its points, and the topic asks for the other ones."""
    final = final_grades(course_in(root), DUE + timedelta(days=1))
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        ada = gradebook.find_submission_notebook(NAME, NAME, "ada")
        asked = ada.max_score - gradebook.find_grade("softmax", NAME, NAME, "ada").max_score
        share = Fraction(ada.score).limit_denominator(1000) / Fraction(asked)
    topic, viva = final.grades["ada"].parts
    assert (topic.share, viva.share) == (share, Fraction(3, 4))
    assert final.grades["bea"].parts[1].share == Fraction(3, 40)
    assert final.grades["ada"].mean == (3 * share + Fraction(3, 4)) / 4
    assert final.grades["cy"].grade is None and final.grades["zoe"].grade == 0
    (waiting, ungraded) = final.notes
    assert "answers that you have not graded yet" in waiting and "1 student (fay)" in ungraded


def test_exports_and_report_show_the_same_grade(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    grade = str(final_grades(course_in(root), datetime.now(UTC)).grades["ada"].grade)
    for platform, place in (("csv", 0), ("canvas", 3), ("moodle", 0)):
        assert cli.main(["export", platform, "final"]) == 0
        path = root / "exports" / f"{platform}-final.csv"
        assert str(path) in capsys.readouterr().out
        rows = {row[place]: row for row in csv.reader(path.read_text("utf-8").splitlines())}
        assert rows["ada"][-1] == grade and "zoe" in rows
        assert ("cy" in rows) == (platform == "csv"), "nobody gets a grade from nothing"
    assert rows["ada"][-1] == grade
    assert cli.main(["report", "--names"]) == 0
    page = (root / "reports" / "term-with-names.html").read_text("utf-8")
    (ada,) = [line for line in page.splitlines() if line.startswith('<tr><th scope="row" class="name">ada<')]
    assert f"<strong>{grade}</strong>" in ada and "75.0" in ada
    assert "rounded to a whole number, and a half is rounded up" in page
    assert cli.main(["report"]) == 0
    page = (root / "reports" / "term.html").read_text("utf-8")
    assert "Final grades" in page and ">ada<" not in page


@pytest.mark.parametrize(
    "words", [("gradescope", "final"), ("csv", "final", NAME), ("csv", "final", "--into", "x.csv"), ("csv", "final")]
)
def test_a_final_grade_that_cannot_be_exported(
    root: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if words == ("csv", "final"):
        (root / "course.toml").write_text(f"[topics.{NAME}]\n", "utf-8")
    monkeypatch.chdir(root)
    assert cli.main(["export", *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_nothing_is_made_of_nothing(root: Path) -> None:
    (root / "course.toml").write_text(f"[topics.{NAME}]\n[final]\n", "utf-8")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.remove_assignment(NAME)
    with pytest.raises(Problem, match="nothing is graded yet"):
        final_grades(course_in(root), DUE)
