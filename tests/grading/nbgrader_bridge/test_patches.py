"""What is done once a submission, or once a class, says what nbgrader says when it asks a dozen times."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import OverwriteCells, OverwriteKernelspec, SaveAutoGrades

from course.course import course_in
from course.grading.cells import METADATA, checks_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.make_task import make_task
from course.grading.classroom.save import save
from course.grading.execution.task import NOT_ISOLATED
from course.grading.gradebook.released_notebook import read_released
from course.grading.nbgrader_bridge.late_penalty import KeepLatePenalties
from course.grading.nbgrader_bridge.patches import cache_lookups, gradebook_transaction
from course.grading.nbgrader_bridge.sanitise import RestoreCells, RestoreKernelspec
from course.grading.nbgrader_bridge.save_verdicts import SaveVerdicts
from course.judge import Verdict
from tests.original import ORIGINAL

from ..lesson import NAME, TOPIC, find, hand_in, make_course, solved

EVERYBODY = ("ada", "bea")


@pytest.fixture(scope="module")
def lesson(tmp_path_factory) -> Path:
    return make_course(tmp_path_factory.mktemp("economy") / "course")


@pytest.fixture(scope="module")
def released(lesson) -> NotebookNode:
    return solved(lesson)


def url(root: Path) -> str:
    return f"sqlite:///{root / 'gradebook.db'}?timeout=60"


def about(root: Path, student: str = "ada") -> dict:
    names = {"student": student, "assignment": NAME, "notebook": NAME}
    return {"nbgrader": {**names, "db_url": url(root)}}


def changed(cell: NotebookNode, how: str) -> None:
    """What a student, or a tool, may do to a graded cell."""
    marks = cell.metadata["nbgrader"]
    if how == "source":
        cell.source = "100"
    elif how == "points" and "points" in marks:
        marks["points"] = 100
    elif how == "locked":
        marks["locked"] = not marks["locked"]
    elif how == "checksum":
        marks["checksum"] = "0"
    elif how == "name":
        marks["grade_id"] = "mine"
    elif how == "type":
        cell.cell_type = "markdown" if cell.cell_type == "code" else "code"
        for name in ("outputs", "execution_count"):
            cell.pop(name, None)
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)


HARM = st.lists(
    st.tuples(
        st.integers(0, 30), st.sampled_from(["source", "points", "locked", "checksum", "name", "type", "deleted"])
    ),
    max_size=6,
)


@settings(max_examples=25, derandomize=True)
@given(harm=HARM, missing=st.booleans())
def test_restoring_does_what_nbgrader_does(lesson, released, harm, missing):
    nb = deepcopy(released)
    graded = [cell for cell in nb.cells if "nbgrader" in cell.metadata]
    for place, how in harm:
        cell = graded[place % len(graded)]
        if how != "deleted":
            changed(cell, how)
        elif cell in nb.cells:
            nb.cells.remove(cell)
    nb.metadata["kernelspec"] = {"name": "mine"}
    results = []
    for steps in ((OverwriteKernelspec, OverwriteCells), (RestoreKernelspec, RestoreCells)):
        result, resources = deepcopy(nb), about(lesson)
        try:
            for step in steps:
                one = step()
                if isinstance(one, OverwriteCells):
                    one.add_missing_cells = missing
                result, resources = one.preprocess(result, resources)
        except Exception as error:  # noqa: BLE001 - nbgrader has some of its own, with cells it does not know
            result = type(error)
        results.append(result)
    ours, theirs = (without_ids(result) for result in results)
    assert ours == theirs


def without_ids(nb: object) -> object:
    for cell in getattr(nb, "cells", ()):
        cell.pop("id", None)
    return nb


def scored(nb: NotebookNode, scores: dict[str, str]) -> NotebookNode:
    for name, score in scores.items():
        cell = find(nb, name)
        cell.outputs = [new_output("execute_result", data={"text/plain": score})]
    return nb


def saved(root: Path, student: str) -> dict:
    with Gradebook(url(root)) as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        grades = {one.name: (one.auto_score, one.manual_score, one.needs_manual_grade) for one in notebook.grades}
        return grades, {one.name: (one.auto_comment, one.manual_comment) for one in notebook.comments}


@pytest.fixture
def class_of_two(tmp_path) -> Path:
    root = make_course(tmp_path / "course")
    with Gradebook(url(root)) as gradebook:
        for student in EVERYBODY:
            gradebook.add_student(student)
            gradebook.add_submission(NAME, student)
            gradebook.find_grade("attention_cost", NAME, NAME, student).manual_score = 1.5
            gradebook.find_comment("self_attention_question", NAME, NAME, student).manual_comment = "Think of units."
        gradebook.db.commit()
    return root


def test_all_scores_at_once_are_the_scores_one_by_one(class_of_two):
    nb = scored(solved(class_of_two), {"softmax": "1.5", "attention_cost": "0.0"})
    nb.metadata[METADATA] = {
        "verdicts": {name: Verdict(name, "partial", 0.0, 1.0).to_dict() for name in checks_in(ORIGINAL, nb).values()}
    }
    for student, step in zip(EVERYBODY, (SaveAutoGrades, SaveVerdicts)):
        step().preprocess(deepcopy(nb), about(class_of_two, student))
    first, second = (saved(class_of_two, student) for student in EVERYBODY)
    assert first == second
    assert first[0]["softmax"] == (1.5, None, False) and first[0]["attention_cost"] == (0.0, 1.5, True)
    assert first[1]["self_attention_question"][1] == "Think of units."


def test_a_score_that_cannot_be_leaves_all_of_them_unsaved(class_of_two):
    before = saved(class_of_two, "ada")
    nb = scored(solved(class_of_two), {"softmax": "1.5", "attention_cost": "1000.0"})
    with pytest.raises(ValueError, match="maximum"):
        SaveVerdicts().preprocess(nb, about(class_of_two))
    assert saved(class_of_two, "ada") == before


def test_what_was_never_released_is_missing(lesson):
    found = read_released(url(lesson), NAME, NAME)
    assert found.find_source_cell("softmax", NAME, NAME).locked
    assert found.find_graded_cell("softmax", NAME, NAME).max_score == 2
    for ask in (found.find_source_cell, found.find_graded_cell):
        with pytest.raises(MissingEntry):
            ask("mine", NAME, NAME)
    with pytest.raises(MissingEntry):
        read_released(url(lesson), NAME, "99_other")


def students(root: Path) -> list[str]:
    """Who is in the gradebook for anybody else who looks."""
    with closing(sqlite3.connect(root / "gradebook.db")) as connection:
        return [name for (name,) in connection.execute("SELECT id FROM student ORDER BY id")]


def test_what_is_committed_to_one_gradebook_is_saved_at_the_end(tmp_path):
    cache_lookups()
    with gradebook_transaction(url(tmp_path)):
        for course, student in (("default_course", "ada"), ("another", "bea")):
            with Gradebook(url(tmp_path), course) as gradebook:
                gradebook.add_student(student)
            assert students(tmp_path) == []
        with Gradebook(url(tmp_path)) as gradebook:  # what one has committed, the next one sees
            assert {student.id for student in gradebook.students} == {"ada", "bea"}
            assert gradebook.check_course("another").id == "another"
    assert students(tmp_path) == ["ada", "bea"]
    with Gradebook(url(tmp_path)) as gradebook:
        gradebook.add_student("cem")
        assert students(tmp_path) == ["ada", "bea", "cem"]


def test_what_fails_on_one_gradebook_saves_nothing(tmp_path):
    cache_lookups()
    with Gradebook(url(tmp_path)) as gradebook:
        gradebook.add_student("ada")
    with pytest.raises(RuntimeError), gradebook_transaction(url(tmp_path)):
        with Gradebook(url(tmp_path)) as gradebook:
            gradebook.add_student("bea")
        raise RuntimeError
    assert students(tmp_path) == ["ada"]


def test_a_submission_that_cannot_be_saved_whole_is_not_saved_in_part(class_of_two, monkeypatch):
    """nbgrader writes to the gradebook in a dozen steps: stopped before the last, it leaves what was there."""
    import course.grading.nbgrader_bridge.judged_execute as steps

    hand_in(class_of_two, "ada", solved(class_of_two))
    before = saved(class_of_two, "ada")
    monkeypatch.setattr(steps, "execute", lambda task: steps.Outcome(steps.Task.from_bytes(task).notebook).to_bytes())

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(KeepLatePenalties, "preprocess", stop)
    with pytest.raises(KeyboardInterrupt):
        save(Classroom(course_in(class_of_two), TOPIC, {"secret": "one"}), "ada")
    assert saved(class_of_two, "ada") == before


def test_a_notebook_sanitised_before_is_saved_as_one_nbgrader_sanitises(tmp_path, monkeypatch):
    """The file is the same byte for byte, and the notebook is executed once in all."""
    import course.grading.nbgrader_bridge.judged_execute as steps

    root = make_course(tmp_path / "course")
    nb = solved(root)
    find(nb, "softmax").source = "100"
    hand_in(root, "ada", nb)
    executed = []

    def execute(task: bytes) -> bytes:
        task_ = steps.Task.from_bytes(task)
        executed.append(task_.digest())
        return steps.Outcome(task_.notebook, isolation=NOT_ISOLATED).to_bytes()

    monkeypatch.setattr(steps, "execute", execute)
    files = []
    for known in (False, True):
        classroom = Classroom(course_in(root), TOPIC, {"secret": "one"})
        task = make_task(classroom, "ada", classroom.handed_in.submissions()["ada"])
        if not known:
            classroom.sanitized.clear()
        assert save(classroom, "ada") == ""
        assert task.digest() == executed[0]
        files.append((classroom.autograded("ada") / f"{NAME}.ipynb").read_bytes())
    assert files[0] == files[1] and b'"100"' not in files[0]
    assert len(executed) == 1
