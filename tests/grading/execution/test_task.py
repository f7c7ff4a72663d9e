"""Tasks and outcomes as plain bytes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from course.grading.execution.task import Limits, Outcome, Task
from course.grading.intake.untrusted import read_files, write_files
from course.grading.sandbox.spec import Allowance
from course.judge.verdict import CaseResult, Verdict

NOTEBOOK = json.dumps({"cells": [{"id": "a", "source": "1"}], "nbformat": 4}).encode()
TASK = Task("n", NOTEBOOK, {"data/a.csv": b"1"}, 7, limits=Limits(5.0, {3: 60.0}), client={"kernel_name": "python3"})

RECORDED = Task(
    "06_self_attention",
    json.dumps(
        {
            "cells": [
                {
                    "id": "a",
                    "cell_type": "code",
                    "source": "x = 'é'",
                    "metadata": {
                        "nbgrader": {"grade_id": "own", "locked": False, "solution": True},
                        "tags": ["t"],
                    },
                    "outputs": [],
                    "execution_count": None,
                },
                {
                    "id": "b",
                    "cell_type": "code",
                    "source": "assert x",
                    "metadata": {"nbgrader": {"grade_id": "test", "locked": True, "points": 2}},
                    "outputs": [],
                    "execution_count": None,
                },
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ).encode(),
    files={"data/a.csv": b"1", "checkpoints/b.safetensors": b"\0\1"},
    seed=7,
    policy="retrain",
    limits=Limits(30, {12: 60.0, 3: None}, 300.0, 20.0, 4_000_000, Allowance(memory=2**30, disk=None)),
    client={"kernel_name": "python3", "iopub_timeout": 4, "extra_arguments": ["-q"], "record_timing": True},
    environment={"COURSE_X": "ß"},
    skip=(2, 5),
    gpu=True,
    engine="0123456789abcdef",
    isolated=True,
)
"""A task with a value of its own in every field; a limit is a whole number, as nbclient's are."""


@pytest.mark.parametrize("task", [TASK, RECORDED])
def test_a_task_survives_the_trip(task):
    assert Task.from_bytes(task.to_bytes()) == task
    assert task.to_bytes() == Task.from_bytes(task.to_bytes()).to_bytes()
    assert task.digest() == Task.from_bytes(task.to_bytes()).digest()


def test_a_task_has_the_names_that_graded_notebooks_keep():
    """With others, a class that was graded before would be executed again, and a person would look at it anew."""
    assert RECORDED.digest() == "47a463d65d2ba426aa85b130dabdb866768b8f5f0a4119786689178ecd6a14d6"
    assert RECORDED.work() == "e6850723d607143406d3471d973810eb142b2b9f3ec6ace9f0b8f5b5f19bbe69"
    assert RECORDED.submission() == "03f098edede7aac9bed5f026688ed2403a5f77232eea37a113b449f02d24a44f"


def test_any_text_and_any_number_survives_the_trip():
    """What a student prints need not be Unicode, and a limit may be endless."""
    verdict = Verdict("rnn_cell", "error", 0, 2, "\ud800", cases=(CaseResult("one", False, True, 1.0, "\ud800"),))
    outcome = Outcome(NOTEBOOK, (verdict,), fault="\udc80")
    assert Outcome.from_bytes(outcome.to_bytes()) == outcome
    endless = replace(TASK, limits=Limits(float("inf")), environment={"A": "\udc80"})
    assert Task.from_bytes(endless.to_bytes()) == endless


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
    with pytest.raises(ValueError, match=r"does not stay inside|symbolic link"):
        write_files({path: b"x"}, folder)
    assert not (tmp_path / "out").exists()


def test_files_are_written_in_place_of_what_is_in_their_way(tmp_path):
    write_files({"a": b"1", "b/c": b"2"}, tmp_path)
    (tmp_path / "a").chmod(0o400)
    write_files({"a/x": b"3", "b": b"4"}, tmp_path)
    assert read_files(tmp_path) == {"a/x": b"3", "b": b"4"}
