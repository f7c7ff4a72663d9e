"""`rubric`: the criteria by which one marks one's own written answer, and what is remembered of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course import rubric
from course.course import Course
from course.grading.execution.kernel_edition import assemble
from course.hidden import question_criteria
from course.notebook import find_key, rubrics
from course.outline import QUESTIONS, Outline
from course.syllabus import OURS, Topic, Unknown
from tests.original import find_topic

NAME = "self_attention_question"
CRITERIA = question_criteria(find_topic("06"))[NAME]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_shows_the_criteria_and_remembers_what_is_met(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rubric(NAME)
    shown = capsys.readouterr().out
    assert all(f"\n{letter}) {text}" in shown for letter, text in zip("abc", CRITERIA))
    assert "earns no points" in shown and "instructor" not in shown
    assert not (folder / ".course").exists()
    for _ in range(2):
        rubric(NAME, "C, a")
        kept = json.loads((folder / ".course" / "progress.json").read_text("utf-8"))[NAME]
        assert (kept["met"], kept["criteria"]) == ("ac", 3) and "T" in kept["met_at"]
        capsys.readouterr()
        rubric(NAME)
        shown = capsys.readouterr().out
        assert "meets 2 of 3 criteria" in shown
        assert [line[0] for line in shown.splitlines() if ") " in line[:5]] == ["✓", "○", "✓"]
    rubric(NAME, "")
    assert "meets 0 of 3 criteria" in capsys.readouterr().out


def test_in_a_notebook_it_is_folded_until_a_box_is_ticked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panels: list[Any] = []
    monkeypatch.setattr(rubrics, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", panels.append)
    rubric(NAME)
    page, row = panels[0].children
    assert "<details>" in page.value and not any(box.value for box in row.children)
    row.children[1].value = True
    assert "<details open>" in page.value and "meets 1 of 3 criteria" in page.value
    row.children[0].value = True
    row.children[1].value = False
    assert json.loads((folder / ".course" / "progress.json").read_text("utf-8"))[NAME]["met"] == "a"
    rubric(NAME)
    page, row = panels[1].children
    assert [box.value for box in row.children] == [True, False, False] and "<details open>" in page.value


@pytest.mark.parametrize("kept", ['{"%s": {"met": 3}}', '{"%s": {"met": ["a"]}}', "{", '{"%s": 3}'])
def test_what_is_remembered_may_be_nonsense(kept: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".course").mkdir()
    (folder / ".course" / "progress.json").write_text(kept.replace("%s", NAME))
    rubric(NAME)
    assert "once it is written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("softmax",), "'softmax' is no written question. Its check says whether it is right"),
        (("self_attention_qestion",), "Did you mean 'self_attention_question'"),
        ((NAME, "ad"), f"{NAME} has no criterion d. Give letters from a to c"),
        ((NAME, "yes"), f"{NAME} has no criterion e"),
        ((NAME, 2), f"{NAME} has no criterion 2"),
    ],
)
def test_what_is_not_there_is_told(call: tuple[Any, ...], sentence: str, folder: Path) -> None:
    with pytest.raises(Unknown, match=sentence):
        rubric(*call)
    assert not (folder / ".course").exists()


def test_while_a_notebook_is_graded_nothing_shows(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    rubric(NAME, "abc")
    assert capsys.readouterr().out == "" and not (folder / ".course").exists()


def test_a_class_is_told_that_its_instructor_may_have_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rubrics, "this_course", lambda: Course(outline=Outline(Path("course.toml"))))
    rubric(NAME)
    assert "Your instructor may grade by other criteria." in capsys.readouterr().out


def test_a_question_of_somebodys_own_has_no_criteria(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = replace(find_topic("06"), home=Path())
    monkeypatch.setattr(rubrics, "called", lambda name: (topic, topic.items[-1]))
    rubric(NAME, "a")
    assert capsys.readouterr().out == f"There are no criteria for {NAME}.\n"


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_each_of_the_three_questions_has_its_own_criteria(topic: Topic) -> None:
    """Three or four, each a sentence that says what an answer does, and no two the same."""
    every = [question_criteria(replace(topic, question=number))[f"{topic.name}_question"] for number in QUESTIONS]
    texts = [text for criteria in every for text in criteria]
    assert all(3 <= len(criteria) <= 4 for criteria in every) and len(set(texts)) == len(texts)
    assert all(text[0].isupper() and text.split()[0].endswith("s") and text.endswith(".") for text in texts)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_each_notebook_asks_below_the_answer_and_says_at_its_end_what_one_can(topic: Topic) -> None:
    *_, last, end = (ROOT / "solutions" / f"{topic.folder}.py").read_text("utf-8").split("\n# %%")
    assert end == "\nprogress()\n" and "\n#\n# **Now you can** " in last
    source = (ROOT / "solutions" / f"{topic.folder}.py").read_text("utf-8")
    asked = f'\n# %%\nrubric("{topic.name}_question")\n'
    assert source.count(asked) == 1
    assert source.index(f'question="{topic.name}_question"') < source.index(asked) < source.index("## What you built")


def test_the_student_edition_has_the_criteria_of_all_questions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(find_key, "KEYS", assemble("", OURS) / "course" / "keys")
    monkeypatch.setattr(rubrics, "find_spec", lambda module: None)
    for topic in OURS:
        held = find_key.answer_key(topic.name).question_criteria
        assert held == question_criteria(topic)
        for name, (first, *_) in held.items():
            rubric(name)
            assert f"a) {first}".replace("`", "").replace("*", "") in capsys.readouterr().out
