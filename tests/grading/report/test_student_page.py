"""One student's page for the instructor: every check with its verdict, and what the answer gave."""

from __future__ import annotations

import datetime
import html
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from course import cli
from course.course import course_in
from course.grading.classroom.graded import Graded
from course.grading.gradebook.scores import Scores
from course.grading.report import write_student_reports
from course.grading.report.student_page import render
from course.judge.verdict import CaseResult, Verdict
from tests.grading.classes import HOSTILE
from tests.grading.lesson import NAME, TOPIC

from .test_report import Outline


def words(page: str) -> str:
    """What the page says, with a bar between the cells of a table."""
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    text = re.sub(r"<(?!/t[dhr])[^>]+>", "", re.sub(r"<wbr>", "", text))
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"</t[dh]>", " | ", re.sub(r"</tr>", " ", text))))


def page_of(verdict: Verdict | None, score: float | None, **more: tuple[str, ...]) -> str:
    scores = Scores(score or 0.0, 2.0, {"softmax": score}, {"softmax": 2.0}, **more)
    work = Graded("ada", scores, {"softmax": verdict} if verdict else {})
    return words(render(TOPIC, work, datetime.datetime(2027, 1, 31)))


def test_every_check_of_a_graded_class_is_on_the_page(graded_class, tmp_path):
    (path,) = write_student_reports(course_in(graded_class), [TOPIC], "bea", tmp_path / "bea.html")
    page = path.read_text("utf-8")
    outline = Outline()
    outline.feed(page)
    assert outline.open == [] and outline.tables == outline.captions >= 4 and not outline.links
    said = words(page)
    assert "softmax 1.43 of 2 points" in said, said
    assert "All checks weigh the same: 2 points × " in said
    assert "scores around a thousand (public) | fails | " in said and "rows of -inf with one finite entry | " in said
    assert "tensor (2, 7) float64: nan, nan, nan, nan, nan, nan, … | tensor (2, 7) float64 | " in said
    assert "Feedback says: What is exp(1000) on a computer?" in said and "`overflows`" not in said
    assert "a known misconception, overflows." in said


def test_nothing_a_student_wrote_is_markup(graded_class, tmp_path):
    for student in ("cy", "eve"):
        (path,) = write_student_reports(course_in(graded_class), [TOPIC], student, tmp_path / f"{student}.html")
        assert HOSTILE not in path.read_text("utf-8")
    case = CaseResult(HOSTILE, False, True, message=HOSTILE, got=repr(HOSTILE))
    hostile = Verdict("softmax", "wrong", 0.0, 2.0, HOSTILE, cases=(case,))
    scores = Scores(0.0, 2.0, {"softmax": 0.0}, {"softmax": 2.0})
    page = render(TOPIC, Graded("ada", scores, {"softmax": hostile}, notes=(HOSTILE,)), datetime.datetime.now())
    assert HOSTILE not in page and page.count("&lt;script&gt;") == 4


def test_how_each_check_went():
    cases = (
        CaseResult("a table", False, True, message="got None", got="None", right="tensor (2, 3) float64"),
        CaseResult("one column", False, False, message="passes, but earns nothing", held_back="together", got="1"),
        CaseResult("an edge", True, False, weight=2.0),
    )
    left = (CaseResult("a long text", False, False),)
    page = page_of(Verdict("softmax", "time", 0.8, 2.0, "no answer", cases=cases, unreached=left), 0.8)
    assert "a table (public) | fails | 1 | got None | None | tensor (2, 3) float64 |" in page
    assert "one column | passes, earns nothing | 1 | passes, but earns nothing |" in page
    assert "an edge | passes | 2 | | – | – |" in page and "a long text | did not run | 1 |" in page


@pytest.mark.parametrize(
    ("verdict", "score", "more", "said"),
    [
        (None, None, {}, "softmax not graded yet It waits for you in formgrader."),
        (
            Verdict("softmax", "wrong", 0.5, 2.0),
            1.25,
            {},
            "The checks give 0.5 points. The gradebook has 1.25, which",
        ),
        (Verdict("softmax", "wrong", 0.5, 2.0), 0.5, {"waiting": ("softmax",)}, "It waits for you in formgrader."),
        (Verdict("softmax", "wrong", 0.5, 2.0), 0.5, {"again": ("softmax",)}, "Check whether these points still fit."),
        (Verdict("softmax", "forbidden", 0, 2, "`F.softmax` does it"), 0.0, {}, "F.softmax does it"),
    ],
)
def test_where_the_points_come_from(verdict, score, more, said):
    assert said in page_of(verdict, score, **more)


def test_points_that_the_checks_give_are_nobodys():
    assert "a person gave" not in page_of(Verdict("softmax", "partial", 0.5, 2.0), 0.5)


def test_a_comment_of_a_person_is_on_the_page():
    """Whole and as text, since it says why a written answer lost points."""
    scores = Scores(0.5, 2.0, {"softmax": 0.5}, {"softmax": 2.0})
    comment = f"- Names the variance. (+0.5)\n\n{HOSTILE}"
    page = render(TOPIC, Graded("ada", scores), datetime.datetime(2027, 1, 31), {"softmax": comment})
    assert "<details open>" in page and "- Names the variance. (+0.5)\n\n" in page and HOSTILE not in page
    assert "nothing more to say" not in page


def test_the_command_reads_names_and_comments_from_the_gradebook(graded_class, tmp_path, monkeypatch, capsys):
    root = shutil.copytree(graded_class, tmp_path / "class")
    with Gradebook(CourseDirectory(root=str(root)).db_url) as gradebook:
        gradebook.update_or_create_student("ada", first_name="Augusta", last_name="King")
        gradebook.find_comment("self_attention_question", NAME, NAME, "ada").manual_comment = "Say why."
        gradebook.db.commit()
    (path,) = write_student_reports(course_in(root), [TOPIC], "ada")
    assert "Comment in formgrader: Say why." in words(path.read_text("utf-8"))
    monkeypatch.chdir(root)
    assert cli.main(["report", "6", "--student", "augusta king"]) == 2
    assert f"there is no submission of {NAME} by augusta king. Did you mean ada?" in capsys.readouterr().err


def test_the_command_finds_topics_and_students(graded_class, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(graded_class)
    assert cli.main(["report", "--student", "ada", "--to", str(tmp_path / "ada.html")]) == 0
    assert Path(capsys.readouterr().out.strip()) == tmp_path / "ada.html"
    assert cli.main(["report", "6", "--student", "adda"]) == 2
    assert f"there is no submission of {NAME} by adda. Did you mean ada?" in capsys.readouterr().err
    assert cli.main(["report", "6", "--student", "fay"]) == 2
    assert f"{NAME} by fay is not graded: {NAME}.ipynb is not valid JSON" in capsys.readouterr().err
    assert cli.main(["report", "6", "--student", "ada", "--no-names"]) == 2
    assert "a page about one student names that student" in capsys.readouterr().err
    assert cli.main(["report", "--student", "nobody"]) == 2
    assert "no work by nobody is graded" in capsys.readouterr().err
