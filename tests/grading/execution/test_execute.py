"""One notebook's execution: what the machine does wrong is said in the outcome, and nothing of it stays behind."""

from __future__ import annotations

import re
import tempfile
import threading

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.course_files.cells import notebook_bytes
from course.grading.execution import execute as execution
from course.grading.execution.task import Outcome, Task

TEST = {"grade": True, "solution": False, "grade_id": "rnn_cell", "points": 2}
CHECKED = notebook_bytes(new_notebook(cells=[new_code_cell('check("rnn_cell", 1)', metadata={"nbgrader": TEST})]))


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Where this process makes its folders."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def full(*_):
    raise OSError(28, "No space left on device")


def no_thread(*_):
    raise RuntimeError("can't start new thread")


def judges():
    return {thread for thread in threading.enumerate() if thread.name == "judge"}


def outcome_of(**task) -> Outcome:
    """What came of it; a judge that was begun is given the time to end."""
    before = judges()
    outcome = Outcome.from_bytes(execution.execute(Task("n", CHECKED, **task).to_bytes()))
    for thread in judges() - before:
        thread.join(5)
    assert judges() <= before
    return outcome


@pytest.mark.parametrize(
    ("broken", "files", "said"),
    [
        (None, {"a\\b": b"1"}, r"folder could not be made: 'a\\\\b' does not stay inside its folder"),
        ("write_files", {}, "folder could not be made: no space is left on the disk"),
        ("tempfile.mkdtemp", {}, "no space is left on the disk"),
    ],
)
def test_a_folder_that_cannot_be_made_is_a_fault_and_leaves_nothing(broken, files, said, folders, monkeypatch):
    if broken:
        monkeypatch.setattr(f"course.grading.execution.execute.{broken}", full)
    outcome = outcome_of(files=files)
    assert outcome.fault and not outcome.final
    assert re.search(said, outcome.fault)
    assert list(folders.iterdir()) == []


def test_a_judge_that_cannot_listen_is_a_fault(folders, monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", no_thread)
    assert "the judge could not listen: no more processes or threads" in outcome_of().fault
    assert list(folders.iterdir()) == []
