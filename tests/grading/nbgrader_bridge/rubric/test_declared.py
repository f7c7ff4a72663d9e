"""A rubric in `course.toml`: what is read, what is refused in one sentence, and what students get of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course.course import chosen
from course.outline import Criterion, Faulty, read_outline

TOPIC, QUESTION = "06_self_attention", "self_attention_question"
DOCS = Path(__file__).parents[4] / "docs" / "instructor.md"


def outline_of(folder: Path, text: str):
    (folder / "course.toml").write_text(text, "utf-8")
    return read_outline(folder / "course.toml")


def declared(folder: Path, criteria: str):
    return outline_of(folder, f"[topics.{TOPIC}]\n[rubrics.{TOPIC}]\n{QUESTION} = {criteria}\n")


def test_criteria_are_read_in_their_order(tmp_path: Path) -> None:
    outline = declared(
        tmp_path,
        '[{ points = 1, text = " Names the scale. " }, { text = "Nearly", points = -0.25, group = "Numbers" }]',
    )
    chosen(outline)
    expected = Criterion("Names the scale.", 1.0), Criterion("Nearly", -0.25, "Numbers")
    assert outline.rubrics == {TOPIC: {QUESTION: expected}}
    assert [one.wording for one in expected] == ["Names the scale.", "Numbers: Nearly"]


def test_the_long_form_of_toml_says_the_same(tmp_path: Path) -> None:
    long = f'[topics.{TOPIC}]\n[[rubrics.{TOPIC}.{QUESTION}]]\npoints = 2\ntext = "All."\n'
    assert outline_of(tmp_path, long).rubrics == declared(tmp_path, '[{ points = 2, text = "All." }]').rubrics


def test_the_documented_rubric_fits_its_question(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml rubric\n(.*?)```", DOCS.read_text("utf-8"), re.S)
    outline = outline_of(tmp_path, f"[topics.{TOPIC}]\n{block}")
    chosen(outline)
    assert len(outline.rubrics[TOPIC][QUESTION]) == 5


def test_students_get_no_rubric(tmp_path: Path) -> None:
    outline = declared(tmp_path, '[{ points = 1, text = "The variance grows with the width." }]')
    assert "variance" not in outline.public and "rubric" not in outline.public


@pytest.mark.parametrize(
    ("criteria", "says"),
    [
        ('"good"', "must be a list of criteria, such as { points = 1"),
        ("[]", "must be a list of criteria"),
        ("[1]", "must be a list of criteria"),
        ("[{ points = 1 }]", "criterion 1, has no text. Say what earns or loses the points"),
        ('[{ points = 1, text = " " }]', "criterion 1, has no text"),
        ('[{ points = 1, text = """a\nb""" }]', "criterion 1, text is 'a\\nb', but must be one line"),
        ('[{ text = "a" }]', "criterion 1, has no points. Write a number in steps of 0.25"),
        ('[{ points = 0.3, text = "a" }]', "criterion 1, has 0.3 points. Write a number in steps"),
        ('[{ points = true, text = "a" }]', "criterion 1, has True points"),
        ('[{ points = nan, text = "a" }]', "criterion 1, has nan points"),
        ('[{ points = 1, txt = "a" }]', "criterion 1, says 'txt', which means nothing here"),
        ('[{ points = 0, text = "a" }]', "has no criterion with points"),
        ('[{ points = 1, text = "a" }, { points = 0.5, text = "a" }]', "has the criterion 'a' twice"),
        (
            '[{ points = 1, text = "a", group = "g" }, { points = 1, text = "b" }, '
            '{ points = 0, text = "c", group = "g" }]',
            "has criteria between those of the group 'g'",
        ),
        ('[{ points = 2.25, text = "a" }]', "has 2.25 points for 'a', but the question has 2. Give at most 2"),
        ('[{ points = -3, text = "a" }]', "has -3 points for 'a', but the question has 2"),
    ],
)
def test_a_rubric_that_cannot_be_followed_gets_one_sentence(tmp_path: Path, criteria: str, says: str) -> None:
    with pytest.raises(Faulty) as refused:
        chosen(declared(tmp_path, criteria))
    assert f"[rubrics.{TOPIC}] {QUESTION}" in str(refused.value)
    assert says in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("[rubrics.03_rnn]\nrnn_question = []", "[rubrics] has '03_rnn', which is no topic here. Choose from 06_self"),
        (f"[rubrics]\n{TOPIC} = 1", f"[rubrics] has a {TOPIC} that is not a table"),
        (
            f'[rubrics.{TOPIC}]\nsoftmax = [{{ points = 1, text = "a" }}]',
            f"softmax is no written question of the topic. Its written questions are {QUESTION}",
        ),
        (
            f'[topics.{TOPIC}.points]\n{QUESTION} = 1\n[rubrics.{TOPIC}]\n{QUESTION} = [{{ points = 2, text = "a" }}]',
            "but the question has 1",
        ),
    ],
)
def test_a_rubric_of_what_there_is_not_is_refused(tmp_path: Path, table: str, says: str) -> None:
    with pytest.raises(Faulty) as refused:
        chosen(outline_of(tmp_path, f"[topics.{TOPIC}]\n{table}\n"))
    assert says in str(refused.value)
