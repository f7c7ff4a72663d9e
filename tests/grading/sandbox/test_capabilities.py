"""Root's powers, given up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from course.grading.sandbox import capabilities

from .child import in_child, linux, outcome

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to give up")


def _sets(status: str) -> dict[str, int]:
    pairs = (line.split(":\t") for line in status.splitlines() if line.startswith("Cap"))
    return {name: int(value, 16) for name, value in pairs}


@linux
def test_nothing_is_left_nor_comes_back() -> None:
    def drop() -> list[str]:
        capabilities.drop()
        child = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True)
        return [Path("/proc/self/status").read_text(), child.stdout]

    for status in in_child(drop):
        sets = _sets(status)
        if os.geteuid():
            sets.pop("CapBnd")  # without rights the set cannot be changed, and with no_new_privs it gives nothing
        assert len(sets) >= 4
        assert not any(sets.values())
        assert "NoNewPrivs:\t1" in status


@linux
@root
def test_root_is_a_user_like_any_other(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.write_text("somebody else's")
    foreign.chmod(0o600)
    os.chown(foreign, 12345, 12345)

    def read() -> list[str]:
        before = outcome(foreign.read_text)
        capabilities.drop()
        return [before, outcome(foreign.read_text), outcome(lambda: os.setuid(12345))]

    assert in_child(read) == ["done", "EACCES", "EPERM"]


@linux
def test_dumpable_can_be_taken_and_given() -> None:
    def owner() -> list[int]:
        os.setgid(12345)
        os.setuid(12345)
        owners = []
        for allowed in (False, True):
            capabilities.dumpable(allowed)
            owners.append(Path("/proc/self/environ").stat().st_uid)
        return owners

    if os.geteuid():
        pytest.skip("only root can become another user")
    assert in_child(owner) == [0, 12345]
