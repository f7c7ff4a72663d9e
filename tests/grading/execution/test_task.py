"""Tasks and outcomes as plain bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from course.grading.execution.task import Limits, Outcome, Task
from course.grading.intake.untrusted import read_files, write_files
from course.judge.verdict import CaseResult, Verdict

NOTEBOOK = json.dumps({"cells": [{"id": "a", "source": "1"}], "nbformat": 4}).encode()
TASK = Task("n", NOTEBOOK, {"data/a.csv": b"1"}, 7, limits=Limits(5.0, {3: 60.0}), client={"kernel_name": "python3"})


def test_a_task_survives_the_trip():
    assert Task.from_bytes(TASK.to_bytes()) == TASK
    assert TASK.to_bytes() == Task.from_bytes(TASK.to_bytes()).to_bytes()


def test_an_outcome_survives_the_trip():
    verdict = Verdict("rnn_cell", "partial", 1.5, 2, "off", cases=(CaseResult("one", False, True, 1.0, "off"),))
    outcome = Outcome(NOTEBOOK, (verdict,), {"left.txt": b"x"}, 2.5, {"rnn_cell": 0.1}, "")
    assert Outcome.from_bytes(outcome.to_bytes()) == outcome


@pytest.mark.parametrize(
    "change",
    [
        {"notebook": NOTEBOOK.replace(b"1", b"2")},
        {"files": {"data/a.csv": b"2"}},
        {"files": {}},
        {"seed": 8},
        {"policy": "retrain"},
        {"limits": Limits(6.0, {3: 60.0})},
    ],
)
def test_whatever_decides_the_result_changes_its_name(change):
    assert replace(TASK, **change).digest() != TASK.digest()


def test_the_ids_of_cells_decide_nothing():
    renamed = NOTEBOOK.replace(b'"a"', b'"b"')
    assert replace(TASK, notebook=renamed).digest() == TASK.digest()


def test_links_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "folder"
    (folder / "inside").mkdir(parents=True)
    (folder / "inside" / "plain").write_text("y")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "linked").symlink_to(tmp_path)
    assert read_files(folder) == {"inside/plain": b"y"}


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../../out", "link/out", "..\\out"])
def test_nothing_is_written_outside(tmp_path, path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(ValueError):
        write_files({path: b"x"}, folder)
    assert not (tmp_path / "out").exists()


def test_files_are_written_in_place_of_what_is_in_their_way(tmp_path):
    write_files({"a": b"1", "b/c": b"2"}, tmp_path)
    (tmp_path / "a").chmod(0o400)
    write_files({"a/x": b"3", "b": b"4"}, tmp_path)
    assert read_files(tmp_path) == {"a/x": b"3", "b": b"4"}
