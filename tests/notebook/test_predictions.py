"""`predict`: a question, a reply to the chosen answer, and what is remembered of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

from course.exercise.prediction import LETTERS, Prediction, right, wrong
from course.grading.execution.kernel_edition import assemble
from course.hidden import predictions
from course.notebook import find_key
from course.notebook.predictions import predict, remembered
from course.notebook.progress import progress
from course.syllabus import OURS, Topic, Unknown
from tests.original import find_topic

NAME = "scores_without_scaling"
ASKED = predictions(find_topic("06"))[0]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_in_a_terminal_the_question_comes_first_and_then_the_reply(capsys: pytest.CaptureFixture[str]) -> None:
    predict(NAME)
    said = capsys.readouterr().out
    assert ASKED.question in said and all(choice.text in said for choice in ASKED.choices)
    assert f'predict("{NAME}", "a")' in said
    assert not any(choice.reply in said for choice in ASKED.choices)
    for letter, choice in zip(LETTERS, ASKED.choices, strict=False):
        predict(NAME, letter.upper())
        said = capsys.readouterr().out
        assert [other.reply in said for other in ASKED.choices] == [other is choice for other in ASKED.choices]
        assert (f"{letter} is right." in said) == choice.is_right


def test_the_first_choice_is_remembered(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert remembered(NAME) == ""
    progress("06")
    assert "0 of 2 predictions made" in capsys.readouterr().out
    predict(NAME, "b")
    predict(NAME, "c")
    assert remembered(NAME) == "b"
    kept = json.loads((folder / ".course" / "progress.json").read_text("utf-8"))
    assert datetime.fromisoformat(kept[NAME].pop("predicted_at")).tzinfo is not None
    assert kept == {NAME: {"predicted": "b"}}
    capsys.readouterr()
    predict(NAME)
    assert ASKED.choices[1].reply in capsys.readouterr().out
    progress("06")
    assert "1 of 2 predictions made" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kept", ['{"%s": {"predicted": "d"}}', '{"%s": {"predicted": 3}}', '{"%s": {"predicted": ""}}']
)
def test_a_choice_that_is_none_is_forgotten(kept: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".course").mkdir()
    (folder / ".course" / "progress.json").write_text(kept % NAME, "utf-8")
    predict(NAME)
    assert "Answer with" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("scores_without_scalin",), "no prediction is called 'scores_without_scalin'"),
        (("softmax",), "no prediction is called 'softmax'"),
        ((NAME, "e"), f"{NAME} has no choice 'e'. Choose one of a, b, c"),
        ((NAME, 2), f"{NAME} has no choice 2"),
    ],
)
def test_what_is_not_there_is_told(call: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(Unknown, match=sentence):
        predict(*call)
    assert remembered(NAME) == ""


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[ipywidgets.VBox]:
    """What `predict` displays in a notebook."""
    shown: list[ipywidgets.VBox] = []
    monkeypatch.setattr("course.notebook.predictions.in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


def test_in_a_notebook_a_button_replies_and_the_question_says_how_to_answer_without(panels: list[Any]) -> None:
    predict(NAME)
    question, buttons, reply = panels[0].children
    assert "Answer with" in question.value and ASKED.choices[1].text in question.value
    assert reply.value == "" and buttons.value is None
    buttons.value = "a"
    assert ASKED.choices[0].reply in reply.value and remembered(NAME) == "a"
    buttons.value = "c"
    assert ASKED.choices[2].reply in reply.value and remembered(NAME) == "a"
    predict(NAME)
    _question, buttons, reply = panels[1].children
    assert ASKED.choices[0].reply in reply.value and buttons.value == "a"


def test_the_choices_are_the_buttons(panels: list[Any]) -> None:
    predict(NAME)
    _question, buttons, _reply = panels[0].children
    labels = [label for label, _letter in buttons.options]
    assert labels == [f"{letter}) {one.text}" for letter, one in zip(LETTERS, ASKED.choices, strict=False)]


def test_a_notebook_letters_the_choices_as_the_reply_does(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("course.notebook.predictions.show", lambda html, text: shown.append(html))
    predict(NAME, "c")
    # JupyterLab's style sheet numbers every list, whatever its `type`: only a style of its own wins.
    assert '<ol style="list-style-type:lower-alpha;' in shown[0]


def test_the_student_edition_has_the_predictions_of_all_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_key, "KEYS", assemble("", OURS) / "course" / "keys")
    for topic in OURS:
        assert tuple(find_key.answer_key(topic.name).predictions.values()) == predictions(topic)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_each_prediction_of_the_course_is_well_formed_and_has_a_name_of_its_own(topic: Topic) -> None:
    names = [name for other in OURS for name in other.predictions]
    assert [fault for asked in predictions(topic) for fault in asked.faults()] == []
    assert all(names.count(name) == 1 for name in topic.predictions)


def test_what_an_author_has_to_mend() -> None:
    choices = (right("8", "Yes."), wrong("1", "No."), wrong("64", "No."))
    assert list(Prediction("fine", "How large?", *choices).faults()) == []
    for asked, fault in (
        (Prediction("short", "How large?", *choices[:2]), "has 2 choices"),
        (Prediction("none", "How large?", *(wrong(c.text, c.reply) for c in choices)), "has 0 right choices"),
        (Prediction("two", "How large?", *choices, choices[0]), "has 2 right choices"),
        (Prediction("dumb", "How large?", *choices[:2], replace(choices[2], reply="")), "has an empty text"),
    ):
        assert [fault in said for said in asked.faults()] == [True]
