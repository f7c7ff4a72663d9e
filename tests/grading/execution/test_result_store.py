"""Results are kept whole, found again by what decided them, and never stand in for what the machine got wrong."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from course.grading.execution.result_store import DAY, Store, table
from course.grading.execution.task import Outcome, Task
from course.judge.verdict import Verdict

NOTEBOOK = json.dumps({"cells": [], "nbformat": 4}).encode()
TASK = Task("06_self_attention", NOTEBOOK)
OUTCOME = Outcome(NOTEBOOK, (Verdict("softmax", "passed", 2, 2),), isolation="bubblewrap")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "results")


def test_a_result_is_found_again(store):
    assert store.get(TASK) is None
    store.put(TASK, OUTCOME.to_bytes())
    assert store.get(TASK) == OUTCOME
    assert store.get(replace(TASK, seed=1)) is None


@pytest.mark.parametrize(
    "outcome",
    [replace(OUTCOME, fault="no kernel"), replace(OUTCOME, verdicts=(Verdict("softmax", "not-graded", 0, 2),))],
)
def test_faults_of_the_machine_are_not_kept(store, outcome):
    store.put(TASK, outcome.to_bytes())
    assert store.get(TASK) is None and not list(store.results())


def test_where_a_sandbox_is_required_a_result_without_one_does_not_count(store):
    store.put(TASK, replace(OUTCOME, isolation="NOT ISOLATED").to_bytes())
    assert store.get(TASK) is not None
    assert store.get(replace(TASK, isolated=True)) is None
    store.put(TASK, OUTCOME.to_bytes())
    assert store.get(replace(TASK, isolated=True)) == OUTCOME


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut", OUTCOME.to_bytes()[:-40]])
def test_a_damaged_result_is_none(store, damage):
    path = store.path(TASK)
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    assert store.get(TASK) is None
    store.put(TASK, OUTCOME.to_bytes())
    assert store.get(TASK) == OUTCOME


def test_a_result_with_a_flipped_bit_is_none_and_no_fault(store):
    """zipfile has six ways to say so, and not all of them are its own."""
    whole, path = OUTCOME.to_bytes(), store.path(TASK)
    path.parent.mkdir(parents=True)
    for position in range(len(whole)):
        for bit in (0x01, 0x08, 0x80):
            path.write_bytes(whole[:position] + bytes([whole[position] ^ bit]) + whole[position + 1 :])
            assert store.get(TASK) in (None, OUTCOME)


def test_what_goes_while_it_is_looked_at_is_passed_over(store, monkeypatch):
    """A grader renames its unfinished files, and another prunes."""
    store.put(TASK, OUTCOME.to_bytes())
    there = store.path(TASK)
    gone = [there.with_name("gone.zip"), there.with_name(".gone.zip.4711")]
    found = {"*/*.zip": [there, gone[0]], "*/.*": [gone[1]]}
    monkeypatch.setattr(Path, "glob", lambda _, pattern: iter(found[pattern]))
    assert [kept.path for kept in store.results()] == [there]
    assert [kept.path for kept in store.prune(days=0)] == [there]


def test_pruning_removes_what_was_not_used(store):
    other = replace(TASK, name="03_rnn")
    for task in (TASK, other):
        store.put(task, OUTCOME.to_bytes())
    left_behind = store.path(TASK).with_name(f".{store.path(TASK).name}.4711")
    left_behind.touch()
    for path in (store.path(other), left_behind):
        os.utime(path, (time.time() - 3 * DAY,) * 2)
    assert [kept.topic for kept in store.prune(days=2)] == ["03_rnn"]
    assert [kept.topic for kept in store.results()] == ["06_self_attention"]
    assert not left_behind.exists()
    assert "06_self_attention" in table(store.results())
    store.prune(days=0)
    assert table(store.results()) == "nothing is kept"
