"""`explain` and `review`: questions about a student's own code, kept and asked again."""

from __future__ import annotations

import json
import subprocess
import sys
import types
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
import torch

from course.hidden import predictions
from course.notebook import explaining, reviewing
from course.notebook.checking import check, last_checked
from course.notebook.explaining import explain
from course.notebook.folder import read_questions
from course.notebook.predictions import predict
from course.notebook.progress import progress
from course.notebook.reviewing import review
from course.questions import Apart, Choice, Question
from course.syllabus import Unknown
from tests.original import find_topic

LETTERS = "abcd"


def softmax(x, dim):
    """Weights."""
    e = (x - x.amax(dim, keepdim=True)).exp()  # no overflow
    return e / e.sum(dim, keepdim=True)


def crossover_length(D):
    return D


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a notebook's names, and no hurry."""
    monkeypatch.chdir(tmp_path)
    main = types.ModuleType("__main__")
    vars(main).update(softmax=softmax, torch=torch)
    monkeypatch.setitem(sys.modules, "__main__", main)
    monkeypatch.setattr(explaining, "Apart", lambda: Apart(90))
    last_checked.clear()
    return tmp_path


def later(days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let days pass."""
    then = (datetime.now().astimezone() + timedelta(days)).isoformat(timespec="seconds")
    for module in (explaining, reviewing):
        monkeypatch.setattr(module, "now", lambda: then)


def keys() -> list[str]:
    """The letters that are right for the questions about `softmax`."""
    return [LETTERS[Question.from_plain(plain).key] for plain in read_questions()["softmax"]["asked"]]


def wrong(letter: str) -> str:
    """A letter that is another one."""
    return next(other for other in LETTERS if other != letter)


def test_a_check_has_to_pass_first(capsys: pytest.CaptureFixture[str]) -> None:
    explain("softmax")
    assert 'Run `check("softmax", softmax)` first.' in capsys.readouterr().out
    check("softmax", lambda x, dim: x)
    explain("softmax")
    assert 'Run `check("softmax", softmax)` first.' in capsys.readouterr().out
    check("softmax", softmax)
    vars(sys.modules["__main__"])["softmax"] = lambda x, dim: x  # written anew since
    capsys.readouterr()
    explain("softmax")
    assert 'Run `check("softmax", softmax)` first.' in capsys.readouterr().out


def test_three_questions_one_after_the_other_with_replies(capsys: pytest.CaptureFixture[str]) -> None:
    check("softmax", softmax)
    assert 'explain("softmax")' in capsys.readouterr().out  # the first check that passes in this folder
    explain("softmax")
    said = capsys.readouterr().out
    assert "Question 1 of 3 about your `softmax`." in said and "x.amax(dim, keepdim=True)" in said
    assert "overflow" not in said and "Weights" not in said and "Question 2" not in said
    first, second, third = keys()
    for number, letter in enumerate((first, wrong(second), third), 1):
        explain("softmax", letter.upper())
        said = capsys.readouterr().out
        assert (f"✓ {letter} is right." in said) == (number != 2)
        assert (f"Question {number + 1} of 3" in said) == (number < 3)
    assert read_questions()["softmax"]["chosen"] == [first, wrong(second), third]
    explain("softmax")
    said = capsys.readouterr().out
    assert said.count("is right.") == 2 and said.count("is not right.") == 1 and "Question 3 of 3" in said
    progress("06")
    assert "passes, 2 of 3 explained" in capsys.readouterr().out


def test_the_questions_are_the_same_when_opened_again_until_the_code_changes(capsys: Any) -> None:
    check("softmax", softmax)
    explain("softmax")
    kept = read_questions()["softmax"]
    del vars(sys.modules["__main__"])["softmax"]  # another kernel, where nothing has run
    last_checked.clear()
    capsys.readouterr()
    explain("softmax")
    assert "Question 1 of 3" in capsys.readouterr().out
    assert read_questions()["softmax"] == kept

    def other(x, dim):
        raised = (x - x.amax(dim, keepdim=True)).exp()
        total = raised.sum(dim, keepdim=True)
        return raised / total

    other.__qualname__ = "other"
    vars(sys.modules["__main__"])["softmax"] = other
    check("softmax", other)
    capsys.readouterr()
    explain("softmax")
    assert "There is nothing to ask about `softmax`, because it was not written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("call", "error"),
    [(("softmx",), "no exercise"), (("softmax", "e"), "question 1 has no choice 'e'. Choose one of a, b, c, d")],
)
def test_a_slip_in_the_call_is_told(call: tuple[str, ...], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    check("softmax", softmax)
    with pytest.raises(Unknown, match=error):
        explain(*call)


@pytest.mark.parametrize("name", ["self_attention_task", "self_attention_question"])
def test_a_training_and_a_written_question_have_no_code_to_ask_about(name: str, capsys: Any) -> None:
    explain(name)
    assert "no function or class of yours to ask about" in capsys.readouterr().out


def test_an_answer_that_is_too_short_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    vars(sys.modules["__main__"])["crossover_length"] = crossover_length
    check("crossover_length", crossover_length)
    capsys.readouterr()
    explain("crossover_length")
    said = capsys.readouterr().out
    assert "There is nothing to ask about `crossover_length`" in said or "Run `check" in said


def test_a_machine_without_processes_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def refuse() -> Any:
        raise OSError("a browser has no processes")

    check("softmax", softmax)
    monkeypatch.setattr(explaining, "Apart", refuse)
    capsys.readouterr()
    explain("softmax")
    assert "`explain` does not work here" in capsys.readouterr().out


@pytest.mark.parametrize("spoilt", ["[]", '{"softmax": {"asked": [3]}}', '{"softmax": {"chosen": 3, "later": 4}}', "{"])
def test_a_spoilt_file_is_written_anew(spoilt: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".course").mkdir()
    (folder / ".course" / "questions.json").write_text(spoilt, "utf-8")
    review()
    check("softmax", softmax)
    explain("softmax")
    assert "Question 1 of 3" in capsys.readouterr().out
    explain("softmax", keys()[0])
    assert "is right." in capsys.readouterr().out


@pytest.fixture
def panels(monkeypatch: pytest.MonkeyPatch) -> list[ipywidgets.VBox]:
    """What is displayed in a notebook."""
    shown: list[ipywidgets.VBox] = []
    for module in (explaining, reviewing):
        monkeypatch.setattr(module, "in_notebook", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


def test_in_a_notebook_the_next_question_appears_with_the_reply(panels: list[Any]) -> None:
    check("softmax", softmax)
    explain("softmax")
    parts = panels[0].children
    shown = [parts[k].layout.display for k in (1, 4, 7)]
    assert "Question 1 of 3" in parts[0].value and parts[3].value == "" and shown == [None, "none", "none"]
    parts[1].value = keys()[0]
    assert "is right." in parts[2].value and "Question 2 of 3" in parts[3].value and parts[4].layout.display is None
    assert parts[6].value == ""
    parts[4].value, parts[4].value = wrong(keys()[1]), keys()[1]
    assert read_questions()["softmax"]["chosen"][1] == wrong(keys()[1])
    explain("softmax")
    again = panels[1].children
    assert again[1].value == keys()[0] and "Question 3 of 3" in again[6].value and again[8].value == ""


def test_what_is_due_is_asked_again_at_its_days(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    check("softmax", softmax)
    explain("softmax")
    explain("softmax", keys()[0])
    explain("softmax", wrong(keys()[1]))
    capsys.readouterr()
    review()
    assert "Nothing is due. The next one is due on" in capsys.readouterr().out
    entries = read_questions()["softmax"]["later"]
    assert [entry["step"] for entry in entries] == [0, 1, 2, 0]  # the kept ones, and the wrong one
    later(8, monkeypatch)
    review()
    said = capsys.readouterr().out
    assert "Your `softmax` of" in said and 'Answer with review("a")' in said
    first = Question.from_plain(entries[0]["question"])
    review(LETTERS[first.key])
    assert "is right." in capsys.readouterr().out
    second = Question.from_plain(entries[3]["question"])
    review(wrong(LETTERS[second.key]))
    assert "is not right." in capsys.readouterr().out
    review()
    assert "Nothing is due." in capsys.readouterr().out
    due = [
        round((datetime.fromisoformat(entry["due"]) - datetime.fromisoformat(reviewing.now())) / timedelta(1))
        for entry in read_questions()["softmax"]["later"]
    ]
    assert due == [21, 13, 52, 7]


def test_a_question_that_was_right_three_times_is_not_asked_again(monkeypatch: Any, capsys: Any) -> None:
    check("softmax", softmax)
    explain("softmax")
    for days in (61, 200, 400):
        later(days, monkeypatch)
        for _ in range(3):
            due = sorted(read_questions()["softmax"]["later"], key=lambda entry: entry["due"] or "9")
            if due[0]["due"] and due[0]["due"] <= reviewing.now():
                review(LETTERS[due[0]["question"]["key"]])
    capsys.readouterr()
    review()
    assert "Nothing is due." in capsys.readouterr().out
    assert all(entry["due"] == "" for entry in read_questions()["softmax"]["later"])


def test_a_prediction_that_was_wrong_is_asked_again(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    asked = predictions(find_topic("06"))[:2]
    right = [next(k for k, choice in enumerate(one.choices) if choice.is_right) for one in asked]
    predict(asked[0].name, next(letter for k, letter in enumerate("abc") if k != right[0]))
    predict(asked[1].name, LETTERS[right[1]])
    capsys.readouterr()
    review()
    assert "Nothing is due. The next one" in capsys.readouterr().out
    later(8, monkeypatch)
    review()
    said = capsys.readouterr().out
    assert asked[0].question in said and asked[1].question not in said
    review(LETTERS[right[0]])
    assert "is right." in capsys.readouterr().out
    review()
    assert "Nothing is due. The next one" in capsys.readouterr().out


def test_the_home_notebook_reviews_all_folders(folder: Path, monkeypatch: Any, panels: list[Any]) -> None:
    question = Question("what happens", "f", "1 def f(): ...", "What?", tuple(Choice(c, "Yes.") for c in "wxyz"), 1)
    for topic in ("06_self_attention", "03_rnn"):
        (folder / topic / ".course").mkdir(parents=True)
        (folder / topic / f"{topic}.ipynb").write_text("{}", "utf-8")
        entry = {"question": question.to_plain(), "step": 0, "due": "2026-01-01T00:00:00+00:00"}
        kept = {f"one_of_{topic}": {"later": [entry] * 4, "at": "2025-12-01T00:00:00+00:00"}}
        (folder / topic / ".course" / "questions.json").write_text(json.dumps(kept), "utf-8")
    review()
    parts = panels[0].children
    assert len(parts) == 3 * reviewing.MOST and "of 1 December 2025" in parts[0].value
    parts[1].value = "b"
    steps = [entry["step"] for topic in ("06_self_attention", "03_rnn")
             for entry in read_questions(folder / topic)[f"one_of_{topic}"]["later"]]  # fmt: skip
    assert sorted(steps) == [0] * 7 + [1]


def test_while_a_notebook_is_graded_nothing_is_asked(monkeypatch: Any, capsys: Any, folder: Path) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    explain("softmax")
    review()
    assert "while this notebook is graded" in capsys.readouterr().out
    assert not (folder / ".course").exists()


def test_importing_the_course_imports_nothing_of_it() -> None:
    code = "import course, sys; print([name for name in sys.modules if name.startswith('course.questions')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
