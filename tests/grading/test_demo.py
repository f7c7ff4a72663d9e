"""The made-up class: who is in it, and that a wrong verdict is noticed."""

from __future__ import annotations

import ast

import nbformat
import pytest

from course.grading.classroom import Graded
from course.grading.gradebook import Scores
from course.grading.notebooks import notebook_path
from course.grading.pretend import Expected, Pupil, pupils, standing_alone
from course.grading.release import render
from course.hidden import exercises, find
from course.judge.verdict import Verdict

from .lesson import TOPIC


def test_code_of_misconceptions_stands_alone():
    """What it prints defines the exercise without the hidden tests' module around it."""
    told = 0
    for exercise in exercises(TOPIC):
        for misconception in exercise.misconceptions:
            source = standing_alone(misconception.wrong, exercise.name)
            if source:
                told += 1
                space: dict = {}
                exec(compile(ast.parse(source), "cell", "exec"), space)
                assert callable(space[exercise.name])
                assert "reference" not in source
    assert told > 20


@pytest.fixture(scope="module")
def repository():
    from course.grading.root import find_root

    return find_root()


def test_everybody_is_there(repository, tmp_path):
    from course.grading.notebooks import refresh

    refresh(repository, (TOPIC,))
    solution = nbformat.read(notebook_path(repository, TOPIC), as_version=4)
    release = nbformat.read(render(repository, TOPIC, tmp_path), as_version=4)
    group = pupils(TOPIC, solution, release, find)
    names = [pupil.name for pupil in group]
    assert len(names) == len(set(names)) >= 14
    kinds = {"perfect", "blank", "half_done", "raises", "endless_loop", "edits_the_tests", "copied_cell", "no_notebook"}
    assert kinds <= set(names)
    recognised = [e for pupil in group for e in pupil.expected.values() if e.misconception]
    assert len(recognised) == sum(item.kind == "exercise" for item in TOPIC.items)


@pytest.mark.parametrize(
    ("expected", "verdict", "score", "surprise"),
    [
        (Expected(True), Verdict("softmax", "passed", 2, 2), 2.0, ""),
        (Expected(True), Verdict("softmax", "partial", 1, 2), 1.0, "got 1.0 of 2"),
        (Expected(False, "time"), Verdict("softmax", "error", 0, 2), 0.0, "judged error"),
        (Expected(False, misconception="overflows"), Verdict("softmax", "wrong", 0, 2), 0.0, "no misconception"),
    ],
)
def test_a_wrong_verdict_is_noticed(expected, verdict, score, surprise):
    pupil = Pupil("ada", "", {"softmax": expected})
    graded = Graded("ada", Scores(score, 2, {"softmax": score}, {"softmax": 2}), {"softmax": verdict})
    told = pupil.surprises(graded)
    assert (surprise in told[0]) if surprise else not told


def test_a_refusal_is_expected_with_its_reason():
    pupil = Pupil("ada", "", refused="is not valid JSON")
    assert not pupil.surprises(Graded("ada", reason="x.ipynb is not valid JSON (line 1)"))
    assert pupil.surprises(Graded("ada", reason="there is no x.ipynb"))
    assert pupil.surprises(Graded("ada"))


@pytest.mark.slow
def test_the_demo_runs(tmp_path, capsys):
    from course.grading.demo import run

    assert run(TOPIC, tmp_path / "demo") == 0
    assert "every verdict as expected" in capsys.readouterr().out
