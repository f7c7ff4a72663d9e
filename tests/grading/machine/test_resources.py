"""No more workers than there is processor time for: they would take each other's, and seconds pass on the clock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course.grading.machine import resources
from course.grading.machine.resources import cores_at_hand


@pytest.fixture(autouse=True)
def container(tmp_path, monkeypatch) -> Path:
    """A container without limits, on a machine of 64 cores."""
    monkeypatch.setattr(resources, "CONTAINER", tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    return tmp_path


def test_a_machine_has_its_cores(monkeypatch):
    assert cores_at_hand() == 64
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert cores_at_hand() == 1


@pytest.mark.parametrize(
    ("told", "workers"), [("200000 100000", 2), ("250000 100000", 2), ("50000 100000", 1), ("max 100000", 64), ("", 64)]
)
def test_a_container_may_have_a_share_of_their_time(container, told, workers):
    (container / "cpu.max").write_text(f"{told}\n")
    assert cores_at_hand() == workers


@pytest.mark.parametrize(("quota", "workers"), [("400000", 4), ("-1", 64)])
def test_so_may_an_older_one(container, quota, workers):
    (container / "cpu").mkdir()
    (container / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (container / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert cores_at_hand() == workers


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system holds no process to some cores")
def test_a_process_may_be_held_to_one_of_them():
    """As `taskset`, and a job of Slurm's, do."""
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
    asked = "from course.grading.machine.resources import cores_at_hand; print(cores_at_hand())"
    assert subprocess.run([sys.executable, "-c", code + asked], capture_output=True, text=True).stdout == "1\n"
