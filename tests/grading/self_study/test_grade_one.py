"""Grading one notebook for oneself."""

from __future__ import annotations

import json

import nbformat
import pytest

from course.cli import main
from course.grading.self_study import grade_one
from course.grading.self_study.grade_one import UNANSWERED, Marked
from course.judge.verdict import Verdict
from course.notebook.standing import grade_of
from tests.original import ORIGINAL

from ..lesson import NAME, TOPIC, answers, before, deleted, find, make_course, solved


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("alone"))


def test_the_report_of_a_notebook(root, tmp_path, capsys):
    nb = solved(root)
    answers({"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"})(nb)
    deleted("attention_cost", "crossover_length", "crossover_length-solution")(nb)
    path = tmp_path / "my own name.ipynb"
    nbformat.write(nb, path)
    before = path.read_bytes()
    assert main(["grade", str(path)]) == 0
    said = capsys.readouterr().out
    assert f"{NAME}  Self-attention" in said
    assert "Look here:" in said  # the misconception's hint
    assert "✓ attention_cost" in said  # checked though its cell was deleted
    assert "crossover_length: no answer" in said
    assert "`course solution softmax`" in said
    assert "of 20 points" in said
    assert "`course solution self_attention_question`" in said
    assert path.read_bytes() == before
    grade = grade_of(TOPIC, tmp_path)
    assert grade is not None and grade.at is not None and set(grade.earned) == {item.name for item in TOPIC.judged}
    assert f"{grade.score:g} of 20 points" in said and grade.score == sum(grade.earned.values())


def test_a_score_is_kept_unless_the_judge_could_not_grade(tmp_path, monkeypatch, capsys):
    verdicts = {"passed": Verdict("softmax", "passed", 2, 2), "not-graded": Verdict("softmax", "not-graded", 0, 2)}
    for kind, verdict in verdicts.items():
        monkeypatch.setattr(grade_one, "grade_notebook", lambda *given, one=verdict: Marked(TOPIC, (one,), 1.0))
        assert main(["grade", str(tmp_path / "mine.ipynb")]) == int(kind == "not-graded")
        grade = grade_of(TOPIC, tmp_path)
        assert grade is not None and grade.words() == "2 of 2 points", kind
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / ".course").touch()
    monkeypatch.setattr(grade_one, "grade_notebook", lambda *given: Marked(TOPIC, (verdicts["passed"],), 1.0))
    capsys.readouterr()
    main(["grade", str(tmp_path / "full" / "mine.ipynb")])
    assert "The score is not kept for progress(), because .course in" in capsys.readouterr().err


def test_a_topics_name_where_ones_own_notebook_is_leads_to_its_file(tmp_path, monkeypatch, capsys):
    notebook = tmp_path / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    notebook.parent.mkdir()
    notebook.touch()
    monkeypatch.chdir(tmp_path)
    assert main(["grade", TOPIC.folder]) == 2
    assert f"name its file: {notebook.relative_to(tmp_path)}" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'])
def test_what_is_no_notebook_of_ours(tmp_path, content, capsys):
    path = tmp_path / "notes.ipynb"
    path.write_text(content)
    assert main(["grade", str(path)]) == 2
    said = capsys.readouterr().err
    assert "notes.ipynb" in said and ("is not valid JSON (line 1)" in said) == (content == "{")
    assert ("is empty" in said) == (not content)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda cell: cell.update(source=["a", 3]),
        lambda cell: cell.update(cell_type=7),
        lambda cell: cell.update(cell_type="poem"),
        lambda cell: cell.update(source=None),
        lambda cell: cell.pop("source"),
    ],
)
def test_what_is_no_valid_notebook_gets_a_sentence(root, tmp_path, capsys, spoil):
    nb = json.loads(nbformat.writes(solved(root)))
    spoil(next(cell for cell in nb["cells"] if cell["cell_type"] == "code"))
    path = tmp_path / "spoiled.ipynb"
    path.write_text(json.dumps(nb))
    assert main(["grade", str(path)]) == 2
    assert "spoiled.ipynb is not a valid notebook" in capsys.readouterr().err


def test_outputs_and_marks_may_be_anything(root, tmp_path, capsys):
    """They decide nothing: outputs are made anew, and marks are given out."""
    nb = json.loads(nbformat.writes(solved(root)))
    code = [cell for cell in nb["cells"] if cell["cell_type"] == "code"]
    code[0]["outputs"], code[0]["metadata"] = [None], {"nbgrader": [1], "tags": 3}
    code[1]["outputs"], code[1]["metadata"] = {"a": 1}, {"nbgrader": {"grade_id": [1], "grade": True}}
    path = tmp_path / "odd.ipynb"
    path.write_text(json.dumps(nb))
    assert main(["grade", str(path)]) == 0
    assert "✓ attention_cost" in capsys.readouterr().out


def test_a_check_that_was_written_over_is_made_all_the_same(root, tmp_path, capsys):
    nb = solved(root)
    find(nb, "softmax").source = "softmax(torch.zeros(3), 0)"
    path = tmp_path / "tried.ipynb"
    nbformat.write(nb, path)
    assert main(["grade", str(path)]) == 0
    assert "✓ softmax" in capsys.readouterr().out


def test_a_notebook_that_is_not_there(tmp_path, capsys):
    assert main(["grade", str(tmp_path / "none.ipynb")]) == 2
    assert "there is no" in capsys.readouterr().err


def test_a_cell_without_an_end_costs_nothing_but_itself(root, tmp_path, monkeypatch):
    """It is interrupted, as nbgrader has it, and what comes after it is judged."""
    monkeypatch.setattr(grade_one, "PATIENCE", 3.0)
    nb = solved(root)
    before("softmax", "import time\nwhile True:\n    time.sleep(0.1)")(nb)
    path = tmp_path / "endless.ipynb"
    nbformat.write(nb, path)
    verdicts = {verdict.exercise: verdict.kind for verdict in grade_one.grade_notebook(ORIGINAL, path).verdicts}
    assert verdicts["softmax"] == verdicts["attention_cost"] == "passed"


def test_of_a_full_folder_the_small_files_go_along(tmp_path, monkeypatch):
    monkeypatch.setattr(grade_one, "BESIDE", 1000)
    for name, size in {"helpers.py": 10, "large.bin": 900, "larger.bin": 990, ".hidden": 1}.items():
        (tmp_path / name).write_bytes(bytes(size))
    assert sorted(grade_one.files_beside(tmp_path)) == ["helpers.py", "large.bin"]


def _text(*verdicts):
    return Marked(TOPIC, verdicts, 3.2).text()


def test_a_course_may_keep_points_that_an_earlier_mistake_would_take():
    verdict = Verdict("attention_for_one", "wrong", 0, 2, rests_on="softmax", correct_given_prerequisite=True)
    assert "0 of 2 points, in 3 s" in _text(verdict) and "2 of 2 points, in 3 s" in _text(verdict.under("keep"))


def test_what_was_not_answered_takes_one_line():
    blank = (Verdict(name, "missing", 0, 2, message=UNANSWERED) for name in ("softmax", "attention_for_one"))
    said = _text(*blank, Verdict("attention_cost", "passed", 1, 1))
    assert "○ not answered yet: softmax, attention_for_one\n" in said
    assert "1 of 5 points, in 3 s" in said
    assert "`course solution softmax`" not in said


def test_it_says_where_to_go_from_here():
    wrong = Verdict("attention_cost", "wrong", 0, 1, message="expected a dict, got a whole number")
    said = _text(Verdict("softmax", "passed", 2, 2), wrong)
    assert 'hint("attention_cost") in the notebook helps you on. `course solution attention_cost` shows' in said


def test_nobody_is_sent_to_solutions_of_what_they_solved():
    said = _text(Verdict("softmax", "passed", 2, 2))
    assert "hint(" not in said and "`course solution self_attention_question`" in said
