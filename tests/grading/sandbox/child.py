"""Doing something in a forked child: what confines a process can never be taken off again."""

from __future__ import annotations

import errno
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course.grading.sandbox import landlock

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines a process like this")


def needs_landlock(version: int = 1) -> pytest.MarkDecorator:
    """Skips where the kernel's Landlock is older than ABI `version`."""
    return pytest.mark.skipif(
        landlock.abi() < version, reason=f"this kernel has Landlock ABI {landlock.abi()}; the test needs {version}"
    )


def system() -> list[Path]:
    """Where programs, libraries and this Python are."""
    names = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", sys.prefix, sys.base_prefix)
    return [*map(Path, names), Path(landlock.__file__).parents[2]]


def in_child(act: Callable[[], object]) -> Any:
    """What `act` returns (plain values) when a forked child calls it.

    Raises:
        AssertionError: it raised, or the child died; the message shows how.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            told: dict[str, object] = {"answer": act()}
        except BaseException:  # noqa: BLE001
            told = {"raised": traceback.format_exc()}
        os.write(writing, json.dumps(told).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read()
    _, status = os.waitpid(child, 0)
    assert received, f"the child ended with status {status:#x} and said nothing"
    answer = json.loads(received)
    assert "raised" not in answer, answer["raised"]
    return answer["answer"]


def become_nobody(root: Path) -> None:
    """Give up root's rights in this process, for those of somebody who owns `root` and what is in it."""
    for path in (root, *root.rglob("*")):
        os.chown(path, 65534, 65534)
    tempfile.tempdir = str(root)
    become(65534, root)


def become(user: int, root: Path, *groups: int) -> None:
    """Give up root's rights in this process, for those of a user in these groups who can reach `root`."""
    for path in root.parents:
        mode = path.stat().st_mode
        if mode & 0o055 != 0o055:
            path.chmod(mode | 0o055)
    os.setgroups(groups)
    os.setgid(user)
    os.setuid(user)


def outcome(act: Callable[[], object]) -> str:
    """How `act` ends: `done`, or the name of the error the kernel gave."""
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "done"
