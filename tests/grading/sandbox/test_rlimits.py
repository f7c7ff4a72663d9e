"""Limits the kernel keeps."""

from __future__ import annotations

import os
import resource
import signal
import threading
from pathlib import Path

import psutil
import pytest

from course.grading.sandbox import rlimits

from .child import in_child, linux, outcome

MEGABYTE = 2**20


@linux
def test_soft_is_hard() -> None:
    def limits() -> list[tuple[int, int]]:
        rlimits.apply(8192 * MEGABYTE, 3.2, 2 * MEGABYTE, 100)
        names = ("DATA", "CPU", "FSIZE", "NPROC", "CORE")
        return [resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names]

    assert in_child(limits) == [
        [8192 * MEGABYTE] * 2,
        [4, 4 + rlimits.GRACE_SECONDS],
        [2 * MEGABYTE] * 2,
        [100] * 2,
        [0] * 2,
    ]


@linux
def test_none_leaves_a_limit_and_a_lower_one_is_kept() -> None:
    def limits() -> bool:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MEGABYTE, MEGABYTE))
        before = resource.getrlimit(resource.RLIMIT_DATA)
        rlimits.apply(None, None, 2 * MEGABYTE, None)
        kept = resource.getrlimit(resource.RLIMIT_FSIZE) == (MEGABYTE, MEGABYTE)
        return kept and resource.getrlimit(resource.RLIMIT_DATA) == before

    assert in_child(limits)


@linux
def test_too_much_memory_is_an_exception() -> None:
    def allocate() -> str:
        held = psutil.Process().memory_info().data  # by whatever tests this process has run
        rlimits.apply(held + 512 * MEGABYTE, None, None, None)
        try:
            return f"{len(bytearray(1024 * MEGABYTE))} bytes"
        except MemoryError:
            return f"refused, and {len(bytearray(MEGABYTE))} bytes go on"

    assert in_child(allocate) == f"refused, and {MEGABYTE} bytes go on"


@linux
def test_too_large_a_file_is_an_exception(tmp_path: Path) -> None:
    def write() -> str:
        rlimits.apply(None, None, MEGABYTE, None)
        return outcome(lambda: (tmp_path / "large").write_bytes(bytes(2 * MEGABYTE)))

    assert in_child(write) == "EFBIG"
    assert (tmp_path / "large").stat().st_size <= MEGABYTE


@linux
def test_processor_time_ends_even_a_deaf_process() -> None:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        rlimits.GRACE_SECONDS = 1
        rlimits.apply(None, 1, None, None)
        while True:
            pass
    watchdog = threading.Timer(60, os.kill, (child, signal.SIGTERM))
    watchdog.start()
    _, status = os.waitpid(child, 0)
    watchdog.cancel()
    assert os.WTERMSIG(status) == signal.SIGKILL


@linux
def test_processes_are_counted_by_user() -> None:
    if os.geteuid():
        pytest.skip("needs a user who has no processes yet, and only root can become one")

    def start() -> str:
        os.setuid(54321)
        rlimits.apply(None, None, None, 3)
        for _ in range(10):
            if (how := outcome(_start_and_leave)) != "done":
                return how
        return "ten processes"

    assert in_child(start) == "EAGAIN"


def _start_and_leave() -> None:
    """A process that stays, as a zombie of its parent, until that ends."""
    if not os.fork():
        os._exit(0)
