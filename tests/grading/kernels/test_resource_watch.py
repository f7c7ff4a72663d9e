"""What a notebook uses is looked at whatever it does, and charged to the cell that used it."""

from __future__ import annotations

import os
import sys

import pytest

from course.grading.intake.untrusted import remove
from course.grading.kernels import resource_watch as watches
from course.grading.kernels.resource_watch import Excess, Watch
from course.grading.sandbox.spec import Allowance

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are watched on Linux only")


def test_a_cell_does_not_pay_for_an_earlier_ones_process_that_ended(monkeypatch, tmp_path):
    """The time of an orphan is nobody's any more once it is gone: the sum that is looked at becomes less."""
    spent = 30.0
    monkeypatch.setattr(watches, "cpu_seconds", lambda pids: spent)
    watch = Watch(Allowance(), str(tmp_path), list)
    watch.cell(60.0)
    assert watch.look() is None
    spent = 2.0
    watch.cell(5.0)
    assert watch.look() is None
    spent = 36.0
    excess = watch.look()
    assert excess is not None and (excess.what, excess.used) == ("cpu", 6.0)


def nested(folder, name: str, depth: int) -> None:
    """Folders in folders, made step by step: the path of the last is longer than a system call takes."""
    place = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=place)
        place, above = os.open(name, os.O_RDONLY, dir_fd=place), place
        os.close(above)
    os.close(place)


def looked_at(folder, **allowance) -> Excess | None:
    """What the fourth look, which is the first at the disk, finds."""
    watch = Watch(Allowance(**allowance), str(folder), list)
    assert [watch.look() for _ in range(3)] == [None] * 3
    return watch.look()


def test_folders_in_folders_are_looked_at_however_deep(tmp_path):
    nested(tmp_path, "d", 1200)
    try:
        assert looked_at(tmp_path) is None
        (tmp_path / "d" / "d" / "large").write_bytes(bytes(100_000))
        excess = looked_at(tmp_path, disk=50_000)
        assert excess is not None and excess.what == "disk"
        nested(tmp_path / "d" / "d", "x" * 200, 30)
        excess = looked_at(tmp_path)
        assert excess is not None and excess.what == "path"
    finally:
        remove(tmp_path / "d")


def test_links_are_not_followed_and_files_are_counted(monkeypatch, tmp_path):
    (tmp_path / "again").symlink_to(tmp_path)
    assert looked_at(tmp_path) is None
    monkeypatch.setattr(watches, "MOST_FILES", 1)
    assert looked_at(tmp_path) is None
    (tmp_path / "another").mkdir()
    assert looked_at(tmp_path) == Excess("files", 2, 1)
