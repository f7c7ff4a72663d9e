"""`course solution`: everything there is to say about an exercise, to somebody who has tried."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from course.cli import main
from course.grading.self_study import show_solution
from course.syllabus import BRANCH, OURS, SOURCE, Item, Topic
from tests.original import ORIGINAL

LINE = "return torch.tanh(x @ W_x.T + h @ W_h.T + b)"
EVERY = [(topic, item) for topic in OURS for item in topic.items]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Somebody at a terminal in an empty folder, who answers no; the questions they are asked."""
    asked: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    return asked


def _remember(folder: Path, **facts: object) -> None:
    (folder / ".course").mkdir(parents=True)
    (folder / ".course" / "progress.json").write_text(json.dumps({"rnn_cell": facts}))


@pytest.mark.parametrize(("topic", "item"), EVERY, ids=lambda one: getattr(one, "name", ""))
def test_every_exercise_has_its_solution(topic: Topic, item: Item) -> None:
    heading, first, *rest = show_solution.text(ORIGINAL, topic, item).split("\n\n")
    assert heading == f"{item.name}  {topic.folder}, {item.points} point{'s' * (item.points != 1)}"
    assert rest and "### " not in "\n".join(rest)
    if item.kind == "exercise":
        assert first == f"The reference, from course/reference/{topic.name}.py"
        assert f"def {item.name}(" in rest[0] or rest[0].startswith(f"class {item.name}")
        assert "Known mistakes, and an experiment that shows each" in rest


def test_a_class_with_another_question_sees_that_one() -> None:
    topic, item = ORIGINAL.find_item("rnn_question")
    first, second, third = (show_solution.text(ORIGINAL, replace(topic, question=n), item) for n in (1, 2, 3))
    assert "no gradient ever had to travel further than 16 steps" in first
    assert "clips the gradient's norm at 0.001" in second and "scales all gradients by one factor" in second
    assert "scheduled sampling" in third and not {first, second} & {third}


def test_it_shows_the_reference_with_a_commentary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solution", "rnn_cell", "--yes"]) == 0
    said = capsys.readouterr().out
    assert LINE in said
    assert "J. Elman" in said and "- no bias. What comes out of your cell when x and h are zero?" in said


def test_it_asks_who_has_not_tried_and_takes_no_for_an_answer(
    terminal: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solution", "rnn_cell"]) == 0
    assert terminal == ["You have not tried rnn_cell here yet. It takes about 10 minutes. Show it anyway? [y/N] "]
    said = capsys.readouterr().out
    assert LINE not in said and 'hint("rnn_cell")' in said


def test_it_shows_it_to_who_insists(
    terminal: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "Y ")
    assert main(["solution", "rnn_cell"]) == 0
    assert LINE in capsys.readouterr().out


def test_a_question_nobody_answers(
    terminal: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(_: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert main(["solution", "rnn_cell"]) == 2
    said = capsys.readouterr()
    assert said.out == "\n" and said.err == (
        "course solution: it asks whether you have tried, but nobody answered. Add --yes\n"
    )


@pytest.mark.parametrize("beside", [".", "03_rnn", "assignments/03_rnn", "mine/03_rnn"])
def test_it_knows_what_was_tried(terminal: list[str], tmp_path: Path, beside: str) -> None:
    _remember(tmp_path / beside, kind="partial", passed=1, of=2, hints=1)
    main(["solution", "rnn_cell"])
    assert terminal == ["You have tried and asked for 1 hint, and 1 of 2 public checks pass. Show it? [y/N] "]


def test_it_knows_it_from_within_another_topic(
    terminal: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _remember(tmp_path / "assignments" / "03_rnn", kind="wrong", passed=0, of=2)
    (tmp_path / "assignments" / "01_markov_ngrams").mkdir()
    monkeypatch.chdir(tmp_path / "assignments" / "01_markov_ngrams")
    main(["solution", "rnn_cell"])
    assert terminal == ["You have tried, and 0 of 2 public checks pass. Show it? [y/N] "]


def test_who_has_passed_is_not_asked(terminal: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _remember(tmp_path, kind="passed", passed=2, of=2)
    assert main(["solution", "rnn_cell"]) == 0
    assert terminal == [] and LINE in capsys.readouterr().out


@pytest.mark.parametrize("content", ["{", "[]", '{"rnn_cell": 3}', '{"rnn_cell": {}}'])
def test_a_spoilt_memory_is_no_memory(terminal: list[str], tmp_path: Path, content: str) -> None:
    _remember(tmp_path)
    (tmp_path / ".course" / "progress.json").write_text(content)
    assert main(["solution", "rnn_cell"]) == 0
    assert terminal[0].startswith("You have not tried")


def test_where_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert main(["solution", "lstm_cell"]) == 2
    assert "Add --yes" in capsys.readouterr().err


def test_an_installed_course_says_where_its_notebooks_solutions_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(show_solution.package, "__file__", str(tmp_path / "course" / "__init__.py"))
    assert main(["solution", "rnn_question", "--yes"]) == 2
    assert f"{SOURCE}/blob/{BRANCH}/solutions/03_rnn.py" in capsys.readouterr().err


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solution", "rnn_sell", "--yes"]) == 2
    assert "no exercise is called 'rnn_sell'. Did you mean 'rnn_cell'" in capsys.readouterr().err
