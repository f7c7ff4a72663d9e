"""From the line on a page of feedback, by `course requests`, to the decision on the next page."""

from __future__ import annotations

import html
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.classroom.write_feedback import Feedback
from course.grading.intake.regrade_requests import Asked, Decision, decide, keep_requests
from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog
from tests.grading.lesson import NAME
from tests.grading.rubric_class import QUESTION, RUBRIC, db_url, kept, waiting_class


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Ada has 0.5 of 2 points for her text, and Bob waits."""
    root = waiting_class(tmp_path / "course", "ada", "bob")
    with Gradebook(db_url(root)) as book:
        grade = book.find_grade(QUESTION, NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 0.5, False
        book.db.commit()
    return root


def page_of(root: Path, student: str) -> str:
    feedback = Feedback(root, NAME)
    assert feedback.write([student], workers=1) == {}
    return html.unescape(feedback.page(student).read_text("utf-8"))


def run(root: Path, *arguments: str, status: int = 0) -> None:
    before = Path.cwd()
    os.chdir(root)
    try:
        assert cli.main(["requests", "6", *arguments]) == status
    finally:
        os.chdir(before)


def ask(root: Path, reason: str) -> None:
    """Save the file that Ada's page offers, as her browser does, and hand it in with a reason."""
    page = page_of(root, "ada")
    ((name, link),) = re.findall(r'<a download="([^"]+)" href="data:text/plain;charset=utf-8,([^"]+)"', page)
    (root / name).write_text(f"{unquote(link)}{reason}", "utf-8", newline="")
    run(root, "--read", str(root / name))


def test_only_what_lost_points_and_was_decided_can_be_asked_about(course: Path) -> None:
    assert f"regrade {NAME}, {QUESTION}, ada:" in page_of(course, "ada")
    assert page_of(course, "ada").count("Regrade requests") == 1
    assert page_of(course, "ada").index("Regrade requests") < page_of(course, "ada").index('id="notebook"')
    assert "Regrade requests" not in page_of(course, "bob") and "<script" not in page_of(course, "ada")
    (course / "course.toml").write_text(f"[feedback]\nrequests = false\n{RUBRIC}", "utf-8")
    assert "Regrade requests" not in page_of(course, "ada")


def test_a_request_is_listed_with_answer_verdict_and_points(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(course, "I name the <b>variance</b>.")
    capsys.readouterr()
    run(course)
    said = capsys.readouterr().out
    assert f"{NAME}: 1 open request, 0 decided" in said
    assert f"1  ada, {QUESTION}: 0.5 of 2 points. Asked on " in said
    assert "   Reason\n     I name the <b>variance</b>.\n   Verdict\n     (a person gives the points)\n" in said
    assert "Because the" in said.partition("   Answer\n")[2]
    page = page_of(course, "ada")
    assert "Not decided yet." in page and "save the file" not in page
    assert "I name the &lt;b&gt;" in Feedback(course, NAME).page("ada").read_text("utf-8")


def test_a_decision_gives_points_and_stands_on_the_next_page(course: Path) -> None:
    ask(course, "I name the variance.")
    feedback = Feedback(course, NAME)
    page_of(course, "ada")
    assert feedback.outdated(["ada"]) == []
    run(course, "--decide", "1", "--points", "1.25", "--because", "You do, in the second line.")
    assert kept(course, "ada") == (1.25, None, False)
    (save,) = GradingLog(course).saves(Answer(NAME, "ada", QUESTION))
    assert (save.points, save.by_hand) == (1.25, True) and feedback.outdated(["ada"]) == ["ada"]
    page = page_of(course, "ada")
    assert "the points change from 0.5 to 1.25. You do, in the second line." in page
    assert f"regrade {NAME}, {QUESTION}, ada:" in page  # who disagrees may ask again


def test_a_decision_may_leave_the_points(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(course, "Please.")
    run(course, "--decide", "1", "--because", "Nothing about the variance.")
    assert kept(course, "ada") == (0.5, None, False) and not GradingLog(course).path.exists()
    assert "the points stay at 0.5. Nothing about the variance." in page_of(course, "ada")
    capsys.readouterr()
    run(course)
    assert capsys.readouterr().out == f"{NAME}: 0 open requests, 1 decided\n"
    run(course, "--all")
    assert "(the points stay)\n     Nothing about the variance.\n" in capsys.readouterr().out


def test_points_are_those_with_extra_credit_as_the_list_shows_them(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Gradebook(db_url(course)) as book:
        book.find_grade(QUESTION, NAME, NAME, "ada").extra_credit = 0.25
        book.db.commit()
    ask(course, "Please.")
    run(course, "--decide", "1", "--points", "1", "--because", "Yes.")
    assert "0.75 to 1 points" in capsys.readouterr().out and kept(course, "ada") == (0.75, None, False)


def test_a_page_waits_for_the_last_decision_on_any_of_its_requests(course: Path) -> None:
    feedback = Feedback(course, NAME)
    asked = [(Asked(NAME, QUESTION, "ada", reason), "") for reason in ("first", "second")]
    keep_requests(course, NAME, asked, "2027-02-01")
    run(course, "--decide", "2", "--because", "No.")
    page_of(course, "ada")
    later = feedback.page("ada").stat().st_mtime + 5
    for number, because in ((2, "No."), (1, "Yes.")):
        at = datetime.fromtimestamp(later - 60 * (number - 1), UTC).isoformat()
        decide(course, NAME, number, Decision(because, "kim", at, 0.5, 0.5))
    assert feedback.outdated(["ada"]) == ["ada"]


def test_the_days_are_those_of_the_classs_zone(course: Path) -> None:
    """One of the two zones has another day than UTC at any hour."""
    for number, zone in enumerate(("Pacific/Kiritimati", "Pacific/Pago_Pago"), 1):
        (course / "course.toml").write_text(f'time_zone = "{zone}"\n{RUBRIC}', "utf-8")
        before = datetime.now(ZoneInfo(zone))
        ask(course, f"Please, {zone}.")
        run(course, "--decide", str(number), "--because", f"No, {zone}.")
        days = "|".join(f"{one:%Y-%m-%d}" for one in (before, datetime.now(ZoneInfo(zone))))
        assert re.search(rf"</b> of ({days}): Please, {zone}", page_of(course, "ada"))
        assert re.search(rf"Decision</b> of ({days}): .*No, {zone}", page_of(course, "ada"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--decide", "2", "--because", "so"), f"{NAME} has 1 request, and none with the number 2"),
        (("--decide", "1", "--because", " "), "a decision needs a reason, which the student reads"),
        (("--decide", "1", "--because", "so", "--points", "9"), f"9 are no points for {QUESTION}. Give 0 to 2"),
        (("--decide", "1", "--because", "so", "--points", "nan"), f"nan are no points for {QUESTION}"),
        (("--points", "1"), "--because and --points belong to a decision"),
        (("--read", "course.toml"), f"course.toml holds no request for {NAME}"),
    ],
)
def test_what_cannot_be_is_said(
    arguments: tuple[str, ...], told: str, course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask(course, "Please.")
    run(course, *arguments, status=2)
    assert told in capsys.readouterr().err
    assert kept(course, "ada") == (0.5, None, False)
