"""What the client makes of Moodle's answers, and what becomes of what others wrote there."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from course.grading.classroom.roster import read_people
from course.grading.lms.message import as_html
from course.grading.lms.moodle import Moodle
from course.grading.lms.platform import Assignment, Parcel, Refused
from course.problem import Problem
from tests.grading.lesson import NAME, TOPIC

from .conftest import DUE, NUMBERS
from .moodle_site import MOODLE_TOKEN, MoodleSite

ADA = str(NUMBERS["ada"])
PAGE = f"{NAME}.html"


def parcel(tmp_path: Path, points: str = "12.5", before: tuple[str, ...] = (), *, replace: bool = False) -> Parcel:
    page = tmp_path / PAGE
    page.write_text("<p>Well done & on time.</p>")
    return Parcel(points, f"{points} of 20 points.\nVersion 0123abcd.", page, "0123abcd", before, replace)


@pytest.fixture
def work(moodle: Moodle, moodle_site: MoodleSite) -> Assignment:
    """The assignment, to which ada has handed in."""
    moodle_site.hand_in(11, 101, DUE, (f"{NAME}.ipynb", b"work"))
    return moodle.find(TOPIC)


def test_the_class_has_no_teachers(moodle: Moodle) -> None:
    """Nor anybody whom this token may not see, who leaves a gap in a page."""
    listed = read_people(moodle.class_list())
    assert [(one.id, one.about["lms_user_id"]) for one in listed.people] == [
        (login, str(number)) for login, number in NUMBERS.items()
    ]


def test_a_class_without_students_is_said(moodle: Moodle, moodle_site: MoodleSite) -> None:
    for user in moodle_site.users.values():
        user["roles"] = [{"shortname": "guest"}]
    with pytest.raises(Problem, match=r"nobody in this course on Moodle has the role student. The roles are guest"):
        moodle.class_list()


@pytest.mark.parametrize(
    ("grade", "about", "obstacle", "notes"),
    [
        (20, {}, "", ()),
        (-3, {}, "has a scale of words in Moodle", ()),
        (0, {}, "has no grade in Moodle", ()),
        (20, {"markingworkflow": 1}, "", ("Moodle hides these grades until you set them to released",)),
        (20, {"configs": []}, "", ("no comment is sent, because Moodle has feedback comments off",
                                   "no page is sent, because Moodle has feedback files off")),
    ],
)  # fmt: skip
def test_an_assignment_is_described(
    grade: int, about: dict[str, object], obstacle: str, notes: tuple[str, ...], moodle: Moodle, moodle_site: MoodleSite
) -> None:
    moodle_site.assignments[11].update({"grade": grade, **about})
    found = moodle.find(TOPIC)
    assert obstacle in found.obstacle and bool(obstacle) == bool(found.obstacle)
    assert found.notes == notes and found.takes_pages == ("configs" not in about)


def test_all_attempts_come(moodle: Moodle, moodle_site: MoodleSite) -> None:
    """Earlier ones too, which only the student's own status has; one that Moodle opened after grading is none."""
    moodle_site.hand_in(11, 101, DUE - timedelta(hours=2), (f"{NAME}.ipynb", b"first"))
    moodle_site.hand_in(11, 101, DUE + timedelta(hours=2), (f"{NAME}.ipynb", b"second"))
    moodle_site.hand_in(11, 102, DUE, ("a_b.zip", b"zip"))
    moodle_site.works[11, 102, 0].append({**moodle_site.works[11, 102, 0][0], "attemptnumber": 1, "status": "reopened"})
    moodle_site.hand_in(11, 103, DUE)
    moodle_site.works[11, 103, 0][-1]["status"] = "draft"
    found = moodle.attempts(moodle.find(TOPIC))
    told = [(one.user, one.number, one.came, one.draft) for one in found]
    assert told == [
        ("101", 1, DUE - timedelta(hours=2), False),
        ("102", 1, DUE, False),
        ("103", 1, DUE, True),
        ("101", 2, DUE + timedelta(hours=2), False),
    ]
    assert [moodle.download(found[place].uploads[0]) for place in (0, 3)] == [b"first", b"second"]
    assert found[1].prefix("") == "Bea Núñez_user102_assignsubmission_file_"


def test_a_team_comes_once(moodle: Moodle, moodle_site: MoodleSite) -> None:
    """Its members have a row each without files; an earlier attempt is found by way of a member."""
    moodle_site.assignments[11]["teamsubmission"] = 1
    moodle_site.groups[44] = ("Night_Owls", (101, 102))
    moodle_site.hand_in(11, 0, DUE - timedelta(hours=2), ("a.zip", b"first"), group=44)
    moodle_site.hand_in(11, 0, DUE, ("a.zip", b"second"), group=44)
    found = moodle.attempts(moodle.find(TOPIC))
    assert [(one.user, one.group, one.number) for one in found] == [("", "Night_Owls", 1), ("", "Night_Owls", 2)]
    assert found[0].prefix("") == "Night Owls_44_assignsubmission_file_"
    assert [moodle.download(one.uploads[0]) for one in found] == [b"first", b"second"]


def test_a_grade_goes_out_in_one_request(
    moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path
) -> None:
    moodle.send(work, ADA, parcel(tmp_path))
    grade = moodle_site.grade_of(11, 101)
    assert grade.grade == 12.5 and grade.comment == "<p>12.5 of 20 points.</p><p>Version 0123abcd.</p>"
    assert grade.files == {PAGE: b"<p>Well done & on time.</p>"}
    assert moodle.look(work, ADA).versions == {"0123abcd"} and moodle.standings(work)[ADA].score == 12.5
    assert moodle_site.mails == 1


def test_what_others_wrote_stays(moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path) -> None:
    """A person's comment and file stay, and our own are replaced."""
    moodle.send(work, ADA, parcel(tmp_path))
    before = (parcel(tmp_path).message,)
    grade = moodle_site.grade_of(11, 101)
    grade.files["marked up.pdf"] = b"red ink"
    after = moodle.send(work, ADA, parcel(tmp_path, "13", before))
    assert grade.grade == 13.0 and grade.comment == as_html(parcel(tmp_path, "13").message) and not after.note
    assert grade.files == {PAGE: b"<p>Well done & on time.</p>", "marked up.pdf": b"red ink"}
    grade.comment += "<p>See me.</p>"
    after = moodle.send(work, ADA, parcel(tmp_path, "14", (*before, parcel(tmp_path, "13").message)))
    assert grade.grade == 14.0 and grade.comment.endswith("<p>See me.</p>") and "13 of 20" in grade.comment
    assert after.note == "the comment there is not ours, and stays"
    moodle.send(work, ADA, parcel(tmp_path, "15", replace=True))
    assert grade.comment == as_html(parcel(tmp_path, "15").message) and "marked up.pdf" in grade.files


@pytest.mark.parametrize("state", ["", "inmarking", "released"])
def test_the_workflow_stays_as_it_is(
    state: str, moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path
) -> None:
    """Moodle sets whatever state it is sent, and mails students only about released grades."""
    moodle_site.assignments[11]["markingworkflow"] = 1
    moodle_site.flags[11, 101] = {"workflowstate": state}
    moodle.find(TOPIC)
    moodle.send(work, ADA, parcel(tmp_path))
    assert moodle_site.flags[11, 101]["workflowstate"] == state and moodle_site.mails == (state == "released")


def test_a_change_that_moodle_hides_is_seen(
    moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path
) -> None:
    """Until grades are released, no interface tells comments, but every change has its time."""
    moodle_site.assignments[11]["markingworkflow"] = 1
    moodle.find(TOPIC)
    opened = moodle_site.grade_of(11, 101)
    opened.created = opened.modified = 5  # somebody looked at the page of this student, which makes a row
    assert moodle.standings(work)[ADA].stamp == ""
    moodle.send(work, ADA, parcel(tmp_path))
    first = moodle.standings(work)[ADA].stamp
    moodle_site.grade_of(11, 101).modified += 60
    assert first and moodle.standings(work)[ADA].stamp not in ("", first)


def test_grading_that_opens_a_new_attempt(
    moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path
) -> None:
    """The grade belongs to the work, not to the empty attempt that Moodle opens, and is found there again."""
    moodle_site.reopens = True
    moodle.standings(work)
    moodle.send(work, ADA, parcel(tmp_path))
    assert moodle.standings(work)[ADA].score == 12.5
    moodle.send(work, ADA, parcel(tmp_path, "13"))
    assert moodle_site.grade_of(11, 101, 0).grade == 13.0 and (11, 101, 1) not in moodle_site.grades


def test_a_locked_grade_is_seen(moodle: Moodle, moodle_site: MoodleSite, work: Assignment) -> None:
    moodle_site.locked = {101}
    assert moodle.standings(work)[ADA].obstacle == "locked or overridden in Moodle's gradebook"
    moodle_site.missing = {"gradereport_user_get_grade_items"}
    assert not moodle.standings(work)[ADA].obstacle, "the token need not have this right"


@pytest.mark.parametrize("fault", ["429", "503", "500", "cut", "lost", "half"])
def test_everything_is_tried_again(
    fault: str, moodle: Moodle, moodle_site: MoodleSite, work: Assignment, waits: list[float], tmp_path: Path
) -> None:
    """A grade that arrives twice is the same grade."""
    start = len(moodle_site.seen)
    moodle_site.fault = lambda number, asked: fault if (number - start) % 2 else None
    moodle.send(work, ADA, parcel(tmp_path))
    assert moodle_site.grade_of(11, 101).files == {PAGE: b"<p>Well done & on time.</p>"}
    assert set(waits) == {{"429": 7.0, "503": 3.0}.get(fault, 1.0)}


def test_an_answer_without_access_is_no_empty_answer(moodle: Moodle, moodle_site: MoodleSite, work: Assignment) -> None:
    """Moodle leaves out what this person may not see, and warns. Taken for nothing, all would be overwritten."""
    moodle_site.blind = True
    for ask in (moodle.standings, moodle.attempts):
        with pytest.raises(Problem, match="No access rights in module context"):
            ask(work)


def test_who_may_not_is_told(moodle: Moodle, moodle_site: MoodleSite, work: Assignment, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="The user is not in this course"):
        moodle.send(work, "999", parcel(tmp_path))
    moodle_site.missing = {"mod_assign_get_grades"}
    with pytest.raises(Problem, match=r"Moodle refuses mod_assign_get_grades .*its service lacks the function"):
        moodle.standings(work)
    moodle_site.token = "f" * 32
    with pytest.raises(Problem, match=r"does not know this token. Make a new one") as told:
        moodle.class_list()
    assert MOODLE_TOKEN not in str(told.value)


def test_only_the_site_gets_the_token(moodle: Moodle, moodle_site: MoodleSite, work: Assignment) -> None:
    (upload,) = moodle.attempts(work)[0].uploads
    elsewhere = type(upload)(upload.name, "", "https://elsewhere.example.org/x", 4)
    with pytest.raises(Problem, match="is on another site"):
        moodle.download(elsewhere)


def test_nothing_is_logged(moodle: Moodle, work: Assignment, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.DEBUG):
        moodle.send(work, ADA, parcel(tmp_path))
    assert MOODLE_TOKEN not in caplog.text and MOODLE_TOKEN not in repr(vars(moodle))
