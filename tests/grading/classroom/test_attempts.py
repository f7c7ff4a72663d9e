"""All that a student handed in, and an earlier attempt graded in place of the last."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.gradebook.scores import read_scores
from course.grading.intake.attempts import is_passed_over, keep_folder
from tests.commands import output_of
from tests.few import few
from tests.grading.lesson import NAME, answers, hand_in, make_course, solved

BLANK = {"softmax": "def softmax(x, dim):\n    return x"}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada handed in a solution, and two days later a wrong answer, which counts."""
    root = make_course(tmp_path_factory.mktemp("course"))
    first = hand_in(root, "ada", solved(root)).parent
    (first / "timestamp.txt").write_text("2027-01-29 18:00:00 UTC")
    keep_folder(root, "ada", NAME, first)
    hand_in(root, "ada", solved(root), answers(BLANK))
    (first / "timestamp.txt").write_text("2027-01-31 22:40:00 UTC")
    return root


def run(root: Path, *arguments: str) -> int:
    before = Path.cwd()
    os.chdir(root)
    try:
        return cli.main(["attempts", *arguments])
    finally:
        os.chdir(before)


def points(root: Path) -> float:
    scores = read_scores(f"sqlite:///{root / 'gradebook.db'}", NAME, "ada", NAME)
    assert scores is not None
    return scores.score


def test_they_are_listed_by_time(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course, "ada", "6") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"ada, {NAME}: 2 attempts",
        f"  1  2027-01-29 18:00 +0000  attempts/ada/{NAME}/20270129T180000Z",
        f"  2  2027-01-31 22:40 +0000  submitted/ada/{NAME}                  counts",
        f"To grade another one in its place, run `course attempts ada {NAME} --grade NUMBER`",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("bob", "6"), f"bob handed in nothing for {NAME}. Check the name"),
        (("../ada", "6"), "../ada cannot be a student's name. Give the name of a folder in submitted/"),
        (("ada", "6", "--grade", "3"), f"ada has 2 attempts at {NAME}, so there is no number 3"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(
    arguments: tuple[str, ...], told: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(course, *arguments) == 2
    assert capsys.readouterr().err == f"course attempts: {told}\n"


def test_an_earlier_one_is_graded_and_counts(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(course, "ada", "6", "--grade", "2") == 0
    wrong = points(course)
    capsys.readouterr()
    assert run(course, "ada", "6", "--grade", "1") == 0
    right = points(course)
    assert right > wrong
    said = capsys.readouterr().out
    assert f"attempts/ada/{NAME}/20270129T180000Z counts for ada now. What counted before is kept" in said
    first, second = [line for line in said.splitlines() if " +0000  " in line]
    assert first.split() == f"1 2027-01-29 18:00 +0000 {right:g} / 9 submitted/ada/{NAME} counts".split()
    assert second.split()[:7] == f"2 2027-01-31 22:40 +0000 {wrong:g} / 9".split()
    assert run(course, "ada", "6", "--grade", "2") == 0 and points(course) == wrong, "and back again"


def test_how_late_they_came_and_no_points_of_work_that_was_replaced_since(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(course, tmp_path / "course")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate=datetime(2027, 1, 29, 12))
        gradebook.grant_extension(NAME, "ada", hours=7)
    (root / "submitted" / "ada" / NAME / "helper.py").write_text("newer")
    assert run(root, "ada", "6") == 0
    *_, counts, _how = capsys.readouterr().out.splitlines()
    assert counts.split()[4:] == ["2", "days", "3", "h", "late", f"submitted/ada/{NAME}", "counts"]


def test_what_was_there_then_is_passed_over_by_collecting_and_what_is_newer_is_not(course: Path) -> None:
    files = {f"{NAME}.ipynb": course / "submitted" / "ada" / NAME / f"{NAME}.ipynb"}
    assert run(course, "ada", "6", "--grade", "1") == 0
    assert is_passed_over(course, "ada", NAME, datetime(2027, 1, 31, 22, 40), files)
    assert not is_passed_over(course, "ada", NAME, datetime(2027, 2, 1), files)


def newer(root: Path, text: str = "") -> None:
    """Ada's newer work takes the place of what counts, as `zip_collect` has it; with `text` it is no notebook."""
    place = root / "submitted" / "ada" / NAME
    keep_folder(root, "ada", NAME, place)
    file = hand_in(root, "ada", solved(root), answers(BLANK))
    file.write_text(text or file.read_text("utf-8"), "utf-8")
    (place / "timestamp.txt").write_text("2027-02-02 12:00:00 UTC")


WAYS = ("course grade", "nbgrader autograde", "course grade, which refuses it")


@pytest.mark.parametrize("by", few(WAYS, WAYS[0]))
def test_points_of_work_that_a_newer_zip_replaced_stay_in_the_list(by: str, tmp_path: Path) -> None:
    root = make_course(tmp_path / "course")
    first = hand_in(root, "ada", solved(root)).parent
    (first / "timestamp.txt").write_text("2027-01-29 18:00:00 UTC")
    assert "9" in output_of(root, "course", "grade", NAME)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:  # a person adds to what the machine gave
        gradebook.find_grade("self_attention_question", NAME, NAME, "ada").manual_score = 0.5
        gradebook.db.commit()
    before = points(root)

    def listed() -> list[list[str]]:
        lines = output_of(root, "course", "attempts", "ada", NAME).splitlines()
        return [
            line.split()[4:-1] if line.endswith("counts") else line.split()[4:] for line in lines if "+0000" in line
        ]

    newer(root, "no notebook" if "refuses" in by else "")
    kept = [f"{before:g}", "/", "9", f"attempts/ada/{NAME}/20270129T180000Z"]
    assert listed() == [kept, [f"submitted/ada/{NAME}"]]
    command = ("nbgrader", "autograde", NAME, "--force") if by.startswith("nbgrader") else ("course", "grade", NAME)
    output_of(root, *command, status=int("refuses" in by))
    then, now = listed()
    assert then == kept and (now == [f"submitted/ada/{NAME}"] if "refuses" in by else now[:1] != [f"{before:g}"])
    assert by != "course grade" or now[1:] == ["/", "9", f"submitted/ada/{NAME}"]
