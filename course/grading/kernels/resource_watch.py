"""Watch what a notebook's processes use together, and report more than is allowed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import psutil

from course.grading.sandbox.spec import MEGABYTE, Allowance

MOST_FILES = 20_000
LONGEST_PATH = 3000
"""Characters of a folder's path: beyond Linux's 4096 nothing below it can be measured, or be removed in one go."""


@dataclass(frozen=True)
class Excess:
    """More than allowed of `what`: memory (bytes), processes, disk (bytes), files, path (characters), cpu (seconds)."""

    what: str
    used: float
    allowed: float

    def sentence(self) -> str:
        """What happened, with both numbers."""
        if self.what == "cpu":
            return f"used {self.used:.1f} seconds of processor time, where {self.allowed:g} are allowed"
        if self.what == "processes":
            return f"ran {self.used:.0f} processes at a time, where {self.allowed:.0f} are allowed"
        if self.what == "files":
            return f"wrote more than {self.allowed:.0f} files and folders"
        if self.what == "path":
            return f"made folders in folders, with a path of more than {self.allowed:.0f} characters"
        verb = "used {} of memory" if self.what == "memory" else "wrote {} to the disk"
        return f"{verb.format(in_words(self.used))}, where {in_words(self.allowed)} are allowed"


@dataclass
class Usage:
    """What was used so far: the peak of memory in bytes, and seconds of processor time."""

    memory: int = 0
    cpu: float = 0.0


class Watch:
    """Looks at the processes that `living()` names and at the folder `private`, each time `look` is called."""

    def __init__(self, allowance: Allowance, private: str, living: Callable[[], Iterable[int]]) -> None:
        self.allowance, self.private, self.living = allowance, private, living
        self.usage = Usage()
        self._cell_began = 0.0
        self._cell_allowed: float | None = None
        self._looks = 0

    def cell(self, allowed: float | None) -> None:
        """A cell begins that may use that many seconds of processor time."""
        self._cell_began, self._cell_allowed = max(self.usage.cpu, cpu_seconds(list(self.living()))), allowed

    def look(self) -> Excess | None:
        """What is used too much of just now, if anything."""
        pids = list(self.living())
        self._looks += 1
        usage, allowed = self.usage, self.allowance
        usage.cpu = max(usage.cpu, cpu_seconds(pids))
        if allowed.processes is not None and len(pids) > allowed.processes:
            return Excess("processes", len(pids), allowed.processes)
        return self._memory(pids) or self._time() or (self._disk(pids) if self._looks % 4 == 0 else None)

    def measure(self) -> None:
        """Note what is used now: at the beginning, as the first cell may end the notebook, and just before the end."""
        pids = list(self.living())
        self.usage.cpu = max(self.usage.cpu, cpu_seconds(pids))
        self._weigh(pids)

    def _memory(self, pids: list[int]) -> Excess | None:
        """The cheap figure, which counts shared pages again and again, decides whether the dear one is asked for."""
        limit, resident = self.allowance.memory, sum(map(_resident, pids))
        if limit is not None and resident < limit / 2 and self._looks % 5:
            return None
        used = self._weigh(pids)
        return Excess("memory", used, limit) if limit is not None and used > limit else None

    def _weigh(self, pids: Iterable[int]) -> int:
        used = sum(map(_proportional, pids))
        self.usage.memory = max(self.usage.memory, used)
        return used

    def _time(self) -> Excess | None:
        total, allowed = self.allowance.cpu, self._cell_allowed
        if total is not None and self.usage.cpu > total:
            return Excess("cpu", self.usage.cpu, total)
        if allowed is not None and self.usage.cpu - self._cell_began > allowed:
            return Excess("cpu", self.usage.cpu - self._cell_began, allowed)
        return None

    def _disk(self, pids: Iterable[int]) -> Excess | None:
        """What lies in the folder, and what was deleted there and is still open, which takes its place as well."""
        files, used = 0, sum(_deleted(pids).values())
        unseen = [self.private]
        while unseen:
            folder = unseen.pop()
            if len(folder) > LONGEST_PATH:
                return Excess("path", len(folder), LONGEST_PATH)
            inside, names = _inside(folder)
            files += len(inside) + len(names)
            if files > MOST_FILES:
                return Excess("files", files, MOST_FILES)
            unseen += inside
            used += sum(map(_length, names))
        limit = self.allowance.disk
        return Excess("disk", used, limit) if limit is not None and used > limit else None


Known = TypeVar("Known")


def descendants(ancestor: int) -> list[int]:
    """Return all descendants of a process, without itself."""
    found: list[psutil.Process] = _asked(ancestor, lambda process: process.children(recursive=True), [])
    return [one.pid for one in found]


def ancestors(pid: int) -> list[int]:
    """Return a process and those it descends from, up to the first; empty where there is no such process any more."""
    found: list[psutil.Process] = _asked(pid, lambda process: [process, *process.parents()], [])
    return [one.pid for one in found]


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the seconds of processor time of processes and of their children that ended."""
    return sum(_asked(pid, lambda process: sum(process.cpu_times()[:4]), 0.0) for pid in pids)


def data_of(pid: int) -> int:
    """Return the bytes of a process's own data, used yet or not, and of what it shares with others."""
    return _asked(pid, lambda process: process.memory_info().data + process.memory_info().shared, 0)


def _resident(pid: int) -> int:
    return _asked(pid, lambda process: process.memory_info().rss, 0)


def _proportional(pid: int) -> int:
    return _asked(pid, lambda process: process.memory_full_info().pss, 0) or _resident(pid)


def _asked(pid: int, question: Callable[[psutil.Process], Known], otherwise: Known) -> Known:
    """Return what is known of a process, or `otherwise` where it has ended."""
    try:
        return question(psutil.Process(pid))
    except (psutil.Error, OSError):
        return otherwise


def _inside(folder: str) -> tuple[list[str], list[str]]:
    """The paths of a folder's folders, links not among them, and of all else in it."""
    folders: list[str] = []
    others: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:  # it may be gone
        for entry in islice(entries, MOST_FILES + 1):
            (folders if entry.is_dir(follow_symlinks=False) else others).append(entry.path)
    return folders, others


def _length(path: str) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0


def _deleted(pids: Iterable[int]) -> dict[tuple[int, int], int]:
    """Bytes of the files without a name that processes hold open, by device and inode."""
    found: dict[tuple[int, int], int] = {}
    for pid in pids:
        for path in _inside(f"/proc/{pid}/fd")[1]:  # links, and psutil lists none of those to deleted files
            try:
                about = os.stat(path)  # noqa: PTH116, a hot loop
            except OSError:
                continue
            if about.st_nlink == 0 and stat.S_ISREG(about.st_mode):
                found[about.st_dev, about.st_ino] = about.st_blocks * 512
    return found


def in_words(count: float) -> str:
    """A number of bytes as a person reads it: `2.1 GB`, `80 MB`."""
    megabytes = count / MEGABYTE
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.0f} MB"
