"""A question about the code of each passing exercise on a page of feedback, unless the course wants none."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from course.grading.classroom.write_feedback import Feedback
from course.outline import Faulty, parse_outline
from tests.grading.lesson import NAME

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is executed in a sandbox on Linux only")


@pytest.fixture
def course(graded_class: Path, tmp_path: Path) -> Path:
    return shutil.copytree(graded_class, tmp_path / "course")


def page_of(course: Path, student: str) -> str:
    feedback = Feedback(course, NAME)
    assert feedback.write([student], workers=1) == {}
    return feedback.page(student).read_text("utf-8")


def test_a_question_stands_below_each_passing_exercise_with_its_answer_folded(course: Path) -> None:
    page = page_of(course, "dan")
    asked = re.findall(r"A question about your\s+<code[^>]*>(\w+)</code>", page)
    assert asked[0] == "softmax" and len(asked) == len(set(asked))
    assert page.index("all 14 checks pass") < page.index("A question about your")
    folded = re.findall(r"<details[^>]*><summary[^>]*>Answer</summary>.*?</details>", page, re.DOTALL)
    assert len(folded) == len(asked) and all(re.search(r"<b>[a-d]</b> is right\. ", one) for one in folded)
    assert " open" not in "".join(re.findall(r"<details[^>]*>", page)) and "<script" not in page
    assert page_of(course, "dan") == page


def test_a_course_may_want_none(course: Path) -> None:
    (course / "course.toml").write_text(f"[feedback]\nquestions = false\n[topics.{NAME}]\n")
    assert "A question about your" not in page_of(course, "dan")


def test_the_setting_is_a_truth_value() -> None:
    with pytest.raises(Faulty, match=r"\[feedback\] questions is 'no', but must be true or false"):
        parse_outline(f'[feedback]\nquestions = "no"\n[topics.{NAME}]\n', Path("course.toml"))
