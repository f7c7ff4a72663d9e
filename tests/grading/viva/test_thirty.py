"""A class of thirty from the notebook to the report: sheets on paper, answers with known errors, marks and points."""

from __future__ import annotations

import csv
import random
import re
import shutil
from itertools import combinations
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.viva.round import Round
from tests.grading.lesson import NAME, TOPIC
from tests.grading.viva.thirty import COPIES, HOSTILE, NAMES, grade, make_thirty, passing, student_id
from tests.shared import once

pytestmark = pytest.mark.slow

MOST_PAGES = 3


@pytest.fixture(scope="module")
def thirty(tmp_path_factory) -> Path:
    """The course of the class, graded."""
    return once(tmp_path_factory, "thirty", lambda folder: grade(make_thirty(folder, points=2)))


def test_a_class_of_thirty(thirty, tmp_path, monkeypatch, capsys):
    root = shutil.copytree(thirty, tmp_path / "course")
    monkeypatch.chdir(root)
    passes = passing(Classroom(course_in(root), TOPIC))
    assert cli.main(["viva", "06"]) == 0
    assert "ask in person: dot, of whose exercises none passes" in capsys.readouterr().out
    sheets = {sheet.student: sheet for sheet in Round(root, TOPIC).sheets()}
    assert set(map(student_id, NAMES)) - set(sheets) == {"abe", "dot"}
    for student, sheet in sheets.items():
        assert {one.exercise for one in sheet.asked} <= {*passes[student]}
        assert len(sheet.asked) == (4 if len(passes[student]) > 1 else 2)
    copies = [sheets[student_id(name)] for name in NAMES[:COPIES]]
    for one, other in combinations(copies, 2):
        assert len({a.identity for a in one.asked} & {b.identity for b in other.asked}) <= 1
    assert HOSTILE not in (root / "viva" / "06" / "sheets.html").read_text("utf-8")

    expected = answer(root)
    assert cli.main(["viva", "06", "--answers", "filled.csv"]) == 0
    with (root / "viva" / "06" / "results.csv").open(newline="") as file:
        assert {row["student"]: int(row["right"]) for row in csv.DictReader(file)} == expected
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        scores = {work.student_id: work.score for work in gradebook.assignment_submissions(f"{NAME}_viva")}
    assert scores == {student: 2 * right / len(sheets[student].asked) for student, right in expected.items()}

    assert cli.main(["report", "06"]) == 0
    page = (root / "reports" / f"{NAME}.html").read_text("utf-8")
    listed = re.findall(r'<li><span class="name">(\w+)</span>, \d of \d <span class="soft">\(sheet', page)
    weak = {student for student, right in expected.items() if right <= len(sheets[student].asked) // 4}
    assert set(listed) == weak and weak
    assert "Guessing gets none of 2 right" in page and "Guessing gets at most 1 of 4 right in 74" in page


def answer(root: Path) -> dict[str, int]:
    """Fill in filled.csv as a class that knows nine in ten, but for five who guess, and return how many are right."""
    rng = random.Random(1)
    right: dict[str, int] = {}
    rows = [["student", "1", "2", "3", "4"]]
    for sheet in Round(root, TOPIC).sheets():
        keys = ["ABCD"[one.question.key] for one in sheet.asked]
        knows = 0.0 if len(rows) % 6 == 0 else 0.9
        given = [key if rng.random() < knows else rng.choice("ABCD") for key in keys]
        right[sheet.student] = sum(letter == key for letter, key in zip(given, keys, strict=True))
        rows.append([sheet.student, *given, *[""] * (4 - len(given))])
    with (root / "filled.csv").open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    return right


def test_the_sheets_of_the_class_print_on_at_most_three_pages(thirty, tmp_path, monkeypatch):
    pytest.importorskip("playwright")
    from tests.browser.lab import CHROMIUM, chromium

    if CHROMIUM is None:
        pytest.skip("no Chromium")
    root = shutil.copytree(thirty, tmp_path / "course")
    monkeypatch.chdir(root)
    assert cli.main(["viva", "06", "--questions", "6"]) == 0
    with chromium() as browser:
        page = browser.new_page()
        for path in sorted((root / "viva" / "06" / "sheets").glob("*.html")):
            page.goto(path.as_uri())
            for paper in ("A4", "Letter"):
                assert 1 <= page.pdf(format=paper).count(b"/Type /Page\n") <= MOST_PAGES, (path, paper)
