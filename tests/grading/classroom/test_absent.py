"""Who handed in nothing is known from the gradebook, and so is a misspelt name of `course.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course.course import course_in
from course.grading.classroom.absent import absent_notes
from course.grading.classroom.classroom import Classroom
from course.grading.gradebook.students import some
from tests.grading.lesson import NAME, TOPIC, hand_in, make_course, solved


@pytest.fixture
def classroom(tmp_path: Path) -> Classroom:
    """Ada handed in; the roster has Bob, too."""
    root = make_course(tmp_path / "course")
    hand_in(root, "ada", solved(root))
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for student in ("ada", "bob"):
            gradebook.add_student(student)
    return Classroom(course_in(root), TOPIC)


def test_who_handed_in_nothing_is_named(classroom: Classroom) -> None:
    assert list(absent_notes(classroom)) == ["handed in nothing (1 of 2 students): bob"]
    hand_in(classroom.root, "bob", solved(classroom.root))
    assert list(absent_notes(classroom)) == []


def test_more_time_is_told_and_a_misspelt_name(classroom: Classroom) -> None:
    path = classroom.root / "course.toml"
    extensions = f'[extensions]\nbob = {{ "{NAME}" = "3 days" }}\nadda = {{ "{NAME}" = "3 days" }}'
    path.write_text(f"[topics.{NAME}]\ndue = 2027-01-31T23:59:00+01:00\n{extensions}\n", "utf-8")
    assert list(absent_notes(Classroom(course_in(classroom.root), TOPIC))) == [
        "handed in nothing (1 of 2 students): bob (has until 2027-02-03 23:59 +0100)",
        "course.toml names adda, but the gradebook has nobody of that name. Check the spelling",
    ]


def test_a_long_list_is_cut() -> None:
    assert some([f"s{number}" for number in range(23)]).endswith("s18, s19 and 3 more")


@pytest.mark.parametrize(("listed", "written"), [("adal", "AdaL"), ("123", "00123"), ("0123", "123")])
def test_who_may_have_handed_in_by_another_id_is_asked(listed: str, written: str, classroom: Classroom) -> None:
    """Beside who handed in nothing: a class list has other capitals, or its program dropped zeros."""
    with Gradebook(classroom.coursedir().db_url) as gradebook:
        gradebook.add_student(listed)
    hand_in(classroom.root, written, solved(classroom.root))
    absent, question = absent_notes(classroom)
    assert f"{listed} (but {written} did)" in absent and absent.startswith("handed in nothing (2 of 4 students): ")
    forget = (
        f"`nbgrader db student remove {written} --force` forgets {written}, and the points that {written} has by hand"
    )
    assert (
        question
        == f"if {written} is {listed}, rename submitted/{written} to submitted/{listed} and grade again. Then {forget}"
    )
    hand_in(classroom.root, listed, solved(classroom.root))
    assert list(absent_notes(classroom)) == ["handed in nothing (1 of 4 students): bob"]
