"""`[grading] follow_through` in course.toml, from nbgrader's own command to feedback, report and exports."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from course.grading.authoring.source import build
from course.grading.cells import notebook_bytes
from course.grading.course_folder import source_path
from course.grading.execution.execute import execute
from course.grading.execution.task import Outcome, Task
from course.outline import read_outline
from tests.commands import output_of
from tests.original import ORIGINAL

from .classes import given_out
from .lesson import NAME, TOPIC, answers, hand_in, make_course, solved

SHARES = {"softmax": "def softmax(x, dim):\n    return x / x.sum(dim, keepdim=True)"}
"""A mistake that the judge knows."""
STRANGE = {"softmax": "def softmax(x, dim):\n    return (x - x.amax(dim, keepdim=True)).exp().cumsum(dim) / 7"}
"""One that it does not know."""
REVERSED = {
    "attention_for_one": "def attention_for_one(query, keys, values):\n"
    "    return softmax(keys @ query / math.sqrt(len(query)), 0) @ values.flip(0)"
}
ATTENTION = "attention_for_one"
DOCS = Path(__file__).parents[2] / "docs"


def follow_through(root: Path, setting: str) -> None:
    table = f'[grading]\nfollow_through = "{setting}"\n' if setting else ""
    (root / "course.toml").write_text(f"{table}[topics.{NAME}]\n", "utf-8")


def course(root: Path, *arguments: str) -> str:
    here = {**os.environ, "USER": os.environ.get("USER", "grader"), "COLUMNS": "300"}
    command = [sys.executable, "-m", "course", *arguments]
    done = subprocess.run(command, cwd=root, env=here, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def grade_of(root: Path, student: str) -> Iterator:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        yield book.find_grade(ATTENTION, NAME, NAME, student)
        book.db.commit()


def points(root: Path, student: str) -> tuple[float | None, bool]:
    with grade_of(root, student) as grade:
        return grade.auto_score, grade.needs_manual_grade


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A class under `keep`, graded by nbgrader's own command: whose later answers are right but for softmax, or not."""
    root = make_course(tmp_path_factory.mktemp("kept") / "course")
    follow_through(root, "keep")
    hand_in(root, "ada", given_out(root), answers(SHARES))
    hand_in(root, "bea", given_out(root), answers(STRANGE))
    hand_in(root, "cy", given_out(root), answers({**SHARES, **REVERSED}))
    hand_in(root, "dan", given_out(root))
    hand_in(root, "eve", given_out(root), answers({"softmax": "def softmax(x, dim:"}))
    output_of(root, "nbgrader", "autograde", NAME, "--create")
    return root


def results(root: Path) -> dict[str, bytes]:
    """What is kept, which says how many seconds it took: whatever is executed again differs."""
    return {path.name: path.read_bytes() for path in (root / ".course" / "results").rglob("*") if path.is_file()}


@pytest.mark.parametrize("page", ["instructor.md", "grading.md"])
def test_the_table_of_a_page_is_one(tmp_path, page):
    (table,) = re.findall(r"```toml grading\n(.*?)```", (DOCS / page).read_text("utf-8"), re.S)
    (tmp_path / "course.toml").write_text(f"{table}[topics.{NAME}]\n", "utf-8")
    assert read_outline(tmp_path / "course.toml").follow_through == "keep"


def test_from_autograding_to_feedback_report_and_export(kept):
    assert [points(kept, student) for student in ("ada", "dan")] == [(2, False), (2, False)]
    for student in ("bea", "cy", "eve"):
        by_tests, waits = points(kept, student)
        assert by_tests is not None and by_tests < 2 and waits, student
    with grade_of(kept, "ada") as ada:
        assert ada.notebook.score == sum(one.score for one in ada.notebook.grades)
    output_of(kept, "nbgrader", "generate_feedback", NAME)
    pages = {who: (kept / "feedback" / who / NAME / f"{NAME}.html").read_text("utf-8") for who in ("ada", "bea", "eve")}
    assert "This solution is right except for your" in pages["ada"] and "get the other 1.71 points back" in pages["ada"]
    for student, page in pages.items():
        assert ("Your instructor decides" in page) == (f"{ATTENTION}, not graded yet" in page) == (student != "ada")
    said = course(kept, "grade", NAME)
    assert f"{ATTENTION}: right but for softmax, keeps its points: ada" in said
    assert f"{ATTENTION}: rests on softmax, for you to grade: bea, cy, eve" in said
    course(kept, "report", NAME)
    report = re.sub(r"<[^>]+>|\s+", " ", (kept / "reports" / f"{NAME}.html").read_text("utf-8"))
    report = re.sub(r"[\s\u200b\xa0]+", " ", report)
    assert "4 rest on softmax , 1 right but for that with all points, 3 for you to grade" in report
    assert f"3 × {ATTENTION}" in report.replace("_ ", "_")
    said = course(kept, "export", "csv", NAME)
    assert f"{NAME}: 3 submissions (bea, cy, eve) with answers that rest on an earlier mistake and wait for you" in said


@pytest.mark.parametrize("softmax", [SHARES, STRANGE], ids=["a known mistake", "an unknown one"])
def test_an_answer_rests_on_what_given_cells_call(tmp_path, softmax):
    nb = solved(make_course(tmp_path))
    given = [
        "def weigh(scores):\n    return Weights()(scores)",
        "class Weights:\n    __call__ = staticmethod(lambda s: softmax(s, 0))",
    ]
    nb.cells[1:1] = [new_code_cell(source) for source in given]
    uses = (
        "def attention_for_one(query, keys, values):\n    return weigh(keys @ query / math.sqrt(len(query))) @ values"
    )
    answers({**softmax, ATTENTION: uses})(nb)
    outcome = Outcome.from_bytes(execute(Task(NAME, notebook_bytes(nb)).to_bytes()))
    (verdict,) = [verdict for verdict in outcome.verdicts if verdict.exercise == ATTENTION]
    assert (verdict.rests_on, verdict.correct_given_prerequisite) == ("softmax", softmax is SHARES)


def test_a_task_that_an_earlier_mistake_kept_from_training_rests_on_it():
    nb = build(ORIGINAL, source_path(Path(__file__).parents[2], TOPIC), TOPIC)
    answers({"softmax": "def softmax(x, dim:"})(nb)
    outcome = Outcome.from_bytes(execute(Task(NAME, notebook_bytes(nb)).to_bytes()))
    (task,) = [verdict for verdict in outcome.verdicts if verdict.exercise == "self_attention_task"]
    assert (task.kind, task.rests_on, task.cannot_tell) == ("missing", "softmax", True)
    assert "name 'record' is not defined" in task.message


def test_another_setting_scores_anew_and_executes_nothing(kept):
    """Points that a person gave stay, and are asked for again once they are taken back."""
    executed, by_tests = results(kept), {who: points(kept, who) for who in ("bea", "cy")}
    with grade_of(kept, "bea") as bea:
        bea.manual_score, bea.needs_manual_grade = 1.25, False
    follow_through(kept, "")
    said = course(kept, "grade", NAME)
    assert re.search(rf"{ATTENTION}: graded again, and points changed: ada 2 → [\d.]+\n", said), said
    shown = {student: points(kept, student) for student in ("ada", "bea", "eve")}
    assert shown == {"ada": (0.29, False), "bea": (0, False), "eve": (0, False)}, "as the page on grading has it"
    with grade_of(kept, "bea") as bea:
        assert (bea.auto_score, bea.manual_score, bea.needs_manual_grade) == (by_tests["bea"][0], 1.25, False)
        bea.manual_score = None
    follow_through(kept, "keep")
    course(kept, "grade", NAME)
    assert points(kept, "ada") == (2, False) and {who: points(kept, who) for who in by_tests} == by_tests
    assert results(kept) == executed
