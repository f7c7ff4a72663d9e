"""The made-up class: who is in it, and that a wrong verdict is noticed."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import nbformat
import pytest

from course.course import course_in
from course.grading.classroom.graded import Graded
from course.grading.course_folder import notebook_path
from course.grading.demo.made_up_students import Expected, MadeUpStudent, made_up_students
from course.grading.demo.run_demo import make_class, make_course
from course.grading.gradebook.scores import Scores
from course.grading.intake.check_submission import examine
from course.grading.problem import Problem
from course.grading.release.make_release import render
from course.judge.verdict import Verdict
from tests.original import find

from ..lesson import TOPIC


@pytest.fixture(scope="module")
def repository():
    return course_in(Path(__file__).parents[3])


def test_everybody_is_there(repository, tmp_path):
    from course.grading.authoring.source import refresh

    refresh(repository, (TOPIC,))
    solution = nbformat.read(notebook_path(repository.root, TOPIC), as_version=4)
    release = nbformat.read(render(repository, TOPIC, tmp_path), as_version=4)
    group = made_up_students(TOPIC, solution, release, find)
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
    pupil = MadeUpStudent("ada", "", {"softmax": expected})
    graded = Graded("ada", Scores(score, 2, {"softmax": score}, {"softmax": 2}), {"softmax": verdict})
    told = pupil.surprises(graded)
    assert (surprise in told[0]) if surprise else not told


def test_a_refusal_is_expected_with_its_reason():
    pupil = MadeUpStudent("ada", "", refused="is not valid JSON")
    assert not pupil.surprises(Graded("ada", reason="x.ipynb is not valid JSON (line 1)"))
    assert pupil.surprises(Graded("ada", reason="there is no x.ipynb"))
    assert pupil.surprises(Graded("ada"))


def test_who_is_to_be_refused_is_refused_for_that_reason(repository, tmp_path):
    course = make_course(repository, TOPIC, tmp_path)
    solution = nbformat.read(notebook_path(course.root, TOPIC), as_version=4)
    for pupil in make_class(course, TOPIC, solution, {}):
        with pytest.raises(Problem, match=re.escape(pupil.refused)) if pupil.refused else nullcontext():
            examine(course, course.root / "submitted" / pupil.name / TOPIC.folder, TOPIC.folder)


@pytest.mark.slow
def test_the_demo_runs(tmp_path, capsys):
    from course.grading.demo.run_demo import run as run_demo

    assert run_demo(course_in(Path(__file__).parents[3]), TOPIC, tmp_path / "demo") == 0
    said = capsys.readouterr().out
    assert "every verdict as expected" in said and "blank: self_attention_question" not in said
