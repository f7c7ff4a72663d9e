"""What the client makes of Canvas's answers."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from pathlib import Path

import pytest

from course.grading.classroom.roster import read_people
from course.grading.lms.canvas import Canvas
from course.grading.lms.platform import Assignment, Parcel, Refused, Unclear
from course.problem import Problem
from tests.grading.lesson import NAME, TOPIC

from .canvas_site import CanvasSite
from .conftest import DUE, NUMBERS
from .sites import TOKEN

ADA = str(NUMBERS["ada"])
WORK = Assignment(11, NAME, 20.0)


def parcel(tmp_path: Path, points: str = "12.5") -> Parcel:
    page = tmp_path / f"{NAME}.html"
    page.write_text("<p>Well done.</p>")
    return Parcel(points, "12.5 of 20 points.\nVersion 0123abcd.", page, "0123abcd")


def test_the_class_comes_with_canvas_numbers(canvas: Canvas) -> None:
    """Two pages of users."""
    listed = read_people(canvas.class_list())
    assert [(one.id, one.about["lms_user_id"], one.about["email"]) for one in listed.people] == [
        (login, str(number), f"{login}@example.org") for login, number in NUMBERS.items()
    ]
    assert listed.people[1].about["last_name"] == "Núñez"


@pytest.mark.parametrize(
    ("about", "obstacle"),
    [
        ({}, ""),
        ({"published": False}, "is not published in Canvas"),
        ({"grading_type": "pass_fail"}, "takes no points"),
        ({"moderated_grading": True, "grades_published": False}, "is moderated in Canvas"),
        ({"group_category_id": 3, "grade_group_students_individually": False}, "one grade to each whole group"),
        ({"group_category_id": 3, "grade_group_students_individually": True}, ""),
    ],
)
def test_an_assignment_that_takes_no_grades(
    about: dict[str, object], obstacle: str, canvas: Canvas, canvas_site: CanvasSite
) -> None:
    canvas_site.assignments[11].update(about)
    found = canvas.find(TOPIC)
    assert (found.id, found.points, found.penalises) == (11, 20.0, False)
    assert obstacle in found.obstacle and bool(obstacle) == bool(found.obstacle)


def test_an_assignment_is_found_by_name_or_number(canvas: Canvas, canvas_site: CanvasSite) -> None:
    canvas_site.add_assignment(12, TOPIC.title, 5.0)
    assert canvas.find(TOPIC).id == 11
    canvas_site.assignments[11]["name"] = TOPIC.heading
    with pytest.raises(Problem, match=r"several assignments called like 06_self_attention. Write the number"):
        canvas.find(TOPIC)
    canvas_site.assignments.clear()
    with pytest.raises(Problem, match=r"no assignment called 06_self_attention. Name it so there"):
        canvas.find(TOPIC)


def test_hidden_grades_and_a_late_policy_are_seen(canvas: Canvas, canvas_site: CanvasSite) -> None:
    canvas_site.assignments[11]["post_manually"] = True
    canvas_site.late_policy = {"late_submission_deduction_enabled": True, "late_submission_deduction": 10.0}
    found = canvas.find(TOPIC)
    assert found.penalises and found.notes == ("Canvas hides these grades until you post them",)


def test_all_attempts_come_once(canvas: Canvas, canvas_site: CanvasSite) -> None:
    """Canvas has a second version of each attempt, made by grading; a team's members have one submission each."""
    canvas_site.hand_in(11, 101, DUE - timedelta(hours=2), (f"{NAME}.ipynb", b"first"))
    canvas_site.hand_in(11, 101, DUE + timedelta(hours=2), (f"{NAME}-1.ipynb", b"second"), late=True)
    canvas_site.hand_in(11, 102, DUE, ("work.zip", b"team"))
    canvas_site.hand_in(11, 103, DUE)
    canvas_site.work(11, 104).history.append(
        {
            "attempt": 1,
            "submitted_at": "2027-02-01T00:00:00+01:00",
            "submission_type": "online_text_entry",
            "body": "<p>Hi",
        }
    )
    for user in (102, 103):
        canvas_site.work(11, user).group = (9, "Owls")
    found = canvas.attempts(WORK)
    assert [(one.user, one.number, one.typed) for one in found] == [
        ("101", 1, ""), ("102", 1, ""), ("104", 1, "<p>Hi"), ("101", 2, ""),
    ]  # fmt: skip
    assert [one.prefix("7") for one in found] == [
        "lovelaceada_101_7_", "núñezbea_102_7_", "kimdan_104_7_", "lovelaceada_LATE_101_7_",
    ]  # fmt: skip
    assert found[2].came == DUE + timedelta(minutes=1) and found[1].group == "Owls"
    assert canvas.download(found[3].uploads[0]) == b"second"


def test_a_grade_goes_out_in_one_request(canvas: Canvas, canvas_site: CanvasSite, tmp_path: Path) -> None:
    after = canvas.send(WORK, ADA, parcel(tmp_path))
    work = canvas_site.work(11, 101)
    assert work.score == after.score == 12.5 and after.versions == {"0123abcd"}
    (comment,) = work.comments
    assert comment["comment"].startswith("12.5 of 20 points.")
    (page,) = comment["attachments"]
    assert canvas_site.files[page["id"]] == (f"{NAME}.html", b"<p>Well done.</p>")
    assert canvas_site.count("PUT") == 1


@pytest.mark.parametrize("fault", ["429", "limit"])
def test_canvas_says_how_fast(
    fault: str, canvas: Canvas, canvas_site: CanvasSite, waits: list[float], tmp_path: Path
) -> None:
    """A refusal for speed changed nothing, so even a grade is sent again after the wait."""
    canvas_site.fault = lambda number, asked: fault if asked.method == "PUT" and canvas_site.count("PUT") < 3 else None
    canvas.send(WORK, ADA, parcel(tmp_path))
    assert waits == ([7.0, 7.0] if fault == "429" else [1.0, 2.0])
    assert len(canvas_site.work(11, 101).comments) == 1


def test_a_low_quota_is_spared(canvas: Canvas, canvas_site: CanvasSite, waits: list[float]) -> None:
    canvas_site.quota = 40.0
    canvas.class_list()
    assert waits == [6.0, 6.0]


@pytest.mark.parametrize("fault", ["500", "503", "cut", "lost", "half"])
def test_reading_is_tried_again(fault: str, canvas: Canvas, canvas_site: CanvasSite, waits: list[float]) -> None:
    canvas_site.fault = lambda number, asked: fault if number == 2 else None
    assert len(canvas.class_list().lines) == 4
    assert waits == [3.0 if fault == "503" else 1.0]


@pytest.mark.parametrize("fault", ["500", "503", "cut", "lost", "half"])
def test_a_grade_whose_answer_is_lost_is_unclear(
    fault: str, canvas: Canvas, canvas_site: CanvasSite, tmp_path: Path
) -> None:
    canvas_site.fault = lambda number, asked: fault if asked.method == "PUT" else None
    with pytest.raises(Unclear):
        canvas.send(WORK, ADA, parcel(tmp_path))
    assert canvas_site.count("PUT") == 1
    arrived = fault in ("lost", "half")
    assert canvas.look(WORK, ADA).score == (12.5 if arrived else None)
    assert ("0123abcd" in canvas.look(WORK, ADA).versions) == arrived


@pytest.mark.parametrize("fault", ["500", "cut", "lost"])
def test_an_upload_is_tried_again(fault: str, canvas: Canvas, canvas_site: CanvasSite, tmp_path: Path) -> None:
    canvas_site.fault = lambda number, asked: fault if number in (1, 3) else None
    canvas.send(WORK, ADA, parcel(tmp_path))
    (comment,) = canvas_site.work(11, 101).comments
    assert canvas_site.files[comment["attachments"][0]["id"]][1] == b"<p>Well done.</p>"


def test_a_site_that_stays_away_is_said(
    canvas: Canvas, canvas_site: CanvasSite, waits: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    """An address with a slip is such a site, so it is named, and the minutes of waiting are announced."""
    canvas_site.fault = lambda number, asked: "cut"
    failed = f"Canvas cannot be reached at {canvas_site.address} (ConnectionError)"
    with pytest.raises(Problem, match=re.escape(f"{failed} 8 times. Check the address in course.toml")):
        canvas.class_list()
    assert capsys.readouterr().err.startswith(f"{failed}. Trying again for some minutes")
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


def test_who_may_not_is_told(canvas: Canvas, canvas_site: CanvasSite, tmp_path: Path) -> None:
    canvas_site.forbidden = {101}
    with pytest.raises(Refused, match="does not let this token grade this student"):
        canvas.send(WORK, ADA, parcel(tmp_path))
    with pytest.raises(Refused, match="is no longer in this course"):
        canvas.send(WORK, "999", parcel(tmp_path))
    canvas_site.token = "another"
    for ask in (lambda: canvas.class_list(), lambda: canvas.send(WORK, ADA, parcel(tmp_path))):
        with pytest.raises(Problem, match=r"does not know this token. Make a new one"):
            ask()


def test_another_site_gets_no_token(canvas: Canvas, canvas_site: CanvasSite) -> None:
    """A file may lie elsewhere, and then the token stays here."""
    canvas_site.hand_in(11, 101, DUE, ("a.ipynb", b"x"))
    (upload,) = canvas.attempts(WORK)[0].uploads
    elsewhere = upload.url.replace("127.0.0.1", "localhost")
    seen = len(canvas_site.seen)
    assert canvas.download(type(upload)("a.ipynb", "1", elsewhere, 1)) == canvas.download(upload) == b"x"
    assert ["Authorization" in one.headers for one in canvas_site.seen[seen:]] == [False, True]


def test_nothing_is_logged(canvas: Canvas, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.DEBUG):
        canvas.send(WORK, ADA, parcel(tmp_path))
        repr((canvas, vars(canvas)))
    assert TOKEN not in caplog.text and TOKEN[-4:] not in caplog.text and "Well done" not in caplog.text
    assert TOKEN not in repr(vars(canvas))
