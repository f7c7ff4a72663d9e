"""Groups of `course.toml`: one hand-in and the points given by hand for it count for all members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.course import Course, course_in
from course.grading.classroom.attempts import Attempts
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.groups import one_of_each, share_points, share_work
from course.grading.export import export_grades
from course.grading.problem import Problem
from tests.commands import output_of
from tests.grading import lesson
from tests.grading.lesson import NAME, TOPIC, make_course, solved

OWLS = '[groups]\nowls = ["ada", "bob", "cy"]\n'


@pytest.fixture
def classroom(tmp_path: Path) -> Classroom:
    """A course with a group of three."""
    root = make_course(tmp_path / "course")
    (root / "course.toml").write_text(f"[topics.{NAME}]\n{OWLS}", "utf-8")
    return Classroom(course_in(root), TOPIC)


def hand_in(classroom: Classroom, student: str, text: str, time: str = "") -> None:
    work = classroom.submitted(student)
    work.mkdir(parents=True, exist_ok=True)
    (work / f"{NAME}.ipynb").write_text(text)
    if time:
        (work / "timestamp.txt").write_text(f"2027-01-31 {time}:00 UTC")


def there(classroom: Classroom) -> dict[str, str]:
    works = sorted(classroom.root.glob(f"submitted/*/{NAME}/{NAME}.ipynb"))
    return {path.parts[-3]: path.read_text() for path in works}


def test_the_newest_hand_in_counts_for_all(classroom: Classroom) -> None:
    assert share_work(classroom) == [] and there(classroom) == {}
    hand_in(classroom, "bob", "Bob's", "12:00")
    hand_in(classroom, "dan", "Dan's", "13:00")
    assert share_work(classroom) == ["owls: what bob handed in counts for ada and cy, too"]
    assert there(classroom) == {"ada": "Bob's", "bob": "Bob's", "cy": "Bob's", "dan": "Dan's"}
    assert (classroom.submitted("cy") / "timestamp.txt").read_text() == "2027-01-31 12:00:00 UTC"
    assert share_work(classroom) == []
    hand_in(classroom, "cy", "Cy's", "14:00")
    assert share_work(classroom) == ["owls: what cy handed in counts for ada and bob, too"]
    kept = (classroom.root / "attempts").glob(f"*/{NAME}/20270131T120000Z/{NAME}.ipynb")
    assert {path.parts[-4]: path.read_text() for path in kept} == {"ada": "Bob's", "bob": "Bob's"}
    assert one_of_each(classroom.course, TOPIC, ["bob", "cy", "dan"]) == ["bob", "dan"]


def test_a_member_whom_the_gradebook_does_not_know_is_named(classroom: Classroom) -> None:
    hand_in(classroom, "bob", "Bob's")
    with Gradebook(classroom.coursedir().db_url) as gradebook:
        for student in ("ada", "bob"):
            gradebook.add_student(student)
    shared, stranger = share_work(classroom)
    assert shared == "owls: what bob handed in counts for ada and cy, too"
    assert stranger.startswith(
        "owls: the gradebook had no cy. If that is misspelt, correct course.toml, remove submitted/"
    )


def test_nothing_is_replaced_where_nothing_says_what_is_newer(classroom: Classroom) -> None:
    hand_in(classroom, "ada", "Ada's", "12:00")
    hand_in(classroom, "bob", "Bob's")
    told = "owls: ada and bob handed in different work, and nothing says which is newer"
    assert share_work(classroom) == [f"{told}. Put a timestamp.txt beside each of them"]
    assert there(classroom) == {"ada": "Ada's", "bob": "Bob's"}


def test_an_earlier_attempt_is_chosen_for_all(classroom: Classroom) -> None:
    hand_in(classroom, "ada", "first", "12:00")
    share_work(classroom)
    hand_in(classroom, "bob", "second", "13:00")
    share_work(classroom)
    Attempts(classroom.course, TOPIC, "ada").choose(1)
    assert share_work(classroom) == [] and set(there(classroom).values()) == {"first"}


@pytest.fixture
def gradebook(classroom: Classroom) -> Any:
    """Ada's hand-in is everybody's, and the machine has graded it."""
    hand_in(classroom, "ada", "Ada's", "12:00")
    share_work(classroom)
    with Gradebook(classroom.coursedir().db_url) as gradebook:
        for student in ("ada", "bob", "cy"):
            gradebook.add_student(student)
            gradebook.add_submission(NAME, student)
            answer(gradebook, student).needs_manual_grade = True
        gradebook.db.commit()
        yield gradebook


def answer(gradebook: Any, student: str) -> Any:
    return gradebook.find_grade("self_attention_question", NAME, NAME, student)


def comment(gradebook: Any, student: str) -> Any:
    return gradebook.find_comment("self_attention_question", NAME, NAME, student)


def give(gradebook: Any, student: str, points: float, said: str = "") -> None:
    """As formgrader does."""
    grade = answer(gradebook, student)
    grade.manual_score, grade.needs_manual_grade = points, False
    comment(gradebook, student).manual_comment = said or None
    gradebook.db.commit()


def test_points_by_hand_count_for_all_and_differences_stay(classroom: Classroom, gradebook: Any) -> None:
    assert share_points(classroom) == []
    give(gradebook, "bob", 1.0, "Nearly.")
    told = "owls: the points that you gave bob for self_attention_question count for ada and cy, too"
    assert share_points(classroom) == [told]
    gradebook.db.expire_all()
    assert [answer(gradebook, one).manual_score for one in ("ada", "cy")] == [1.0, 1.0]
    assert not answer(gradebook, "cy").needs_manual_grade and comment(gradebook, "cy").manual_comment == "Nearly."
    assert share_points(classroom) == []
    give(gradebook, "cy", 2.0)
    told = "owls: you gave different points for self_attention_question to ada (1), bob (1) and cy (2)"
    assert share_points(classroom) == [f"{told}, so nothing is changed there"]


def test_an_export_shares_points_first(classroom: Classroom, gradebook: Any) -> None:
    give(gradebook, "ada", 1.0)
    with pytest.raises(Problem, match="is graded yet"):  # by the machine
        export_grades(classroom.course, "csv", [TOPIC])
    gradebook.db.expire_all()
    assert answer(gradebook, "cy").manual_score == 1.0


def test_who_has_other_work_gets_no_points_of_it(classroom: Classroom, gradebook: Any) -> None:
    hand_in(classroom, "cy", "Cy's")
    give(gradebook, "ada", 1.0)
    assert len(share_points(classroom)) == 1
    gradebook.db.expire_all()
    assert answer(gradebook, "bob").manual_score == 1.0 and answer(gradebook, "cy").manual_score is None


def test_a_class_without_groups_is_as_it_was(
    classroom: Classroom, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    classroom.course = Course(classroom.root)
    hand_in(classroom, "ada", "Ada's")
    assert share_work(classroom) == [] and share_points(classroom) == [] and there(classroom) == {"ada": "Ada's"}
    assert one_of_each(classroom.course, TOPIC, ["ada", "bob"]) == ["ada", "bob"]
    monkeypatch.chdir(classroom.root)
    (classroom.root / "course.toml").unlink()
    assert cli.main(["attempts", "ada", NAME]) == 0 and "counts" in capsys.readouterr().out


def test_what_there_is_to_say_of_a_groups_points_is_said_once(tmp_path: Path) -> None:
    root = make_course(tmp_path / "course")
    (root / "course.toml").write_text(f'[topics.{NAME}]\n[groups]\nowls = ["ada", "bob"]\n', "utf-8")
    for student in ("ada", "bob"):
        lesson.hand_in(root, student, solved(root))
    output_of(root, "course", "grade", NAME)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for points, student in enumerate(("ada", "bob"), 1):
            give(gradebook, student, points)
    said = output_of(root, "course", "grade", NAME)
    assert said.count("you gave different points for self_attention_question to ada (1) and bob (2)") == 1
