"""Watch what a notebook's processes use together, and report more than is allowed."""

from __future__ import annotations

import contextlib
import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from course.grading.sandbox.spec import MEGABYTE, Allowance

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
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


def descendants(ancestor: int) -> list[int]:
    """All descendants of a process, without itself."""
    children: dict[int, list[int]] = defaultdict(list)
    for pid in all_processes():
        fields = _stat(pid)
        if fields:
            children[int(fields[1])].append(pid)
    found, unseen = [], [ancestor]
    while unseen:
        mine = children.pop(unseen.pop(), [])
        found += mine
        unseen += mine
    return found


def ancestors(pid: int) -> list[int]:
    """A process and those it descends from, up to the first; empty when there is no such process (any more)."""
    line: list[int] = []
    while pid and (fields := _stat(pid)):
        line.append(pid)
        pid = int(fields[1])
    return line


def all_processes(but: Iterable[int] = ()) -> list[int]:
    """All processes that /proc shows."""
    left_out = set(but)
    return [int(name) for name in _names("/proc") if name.isdigit() and int(name) not in left_out]


def cpu_seconds(pids: Iterable[int]) -> float:
    """Seconds of processor time of processes and of their children that ended."""
    total = 0
    for pid in pids:
        total += sum(map(int, _stat(pid)[11:15]))
    return total / TICKS


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the program's name: state, parent, ..."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _resident(pid: int) -> int:
    fields = _read(f"/proc/{pid}/statm").split()
    return int(fields[1]) * PAGE if fields else 0


def data_of(pid: int) -> int:
    """Bytes of a process's own data, those asked for and not used yet among them, and of what it shares with others."""
    fields = _read(f"/proc/{pid}/statm").split()
    return (int(fields[5]) + int(fields[2])) * PAGE if fields else 0


def _proportional(pid: int) -> int:
    for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return _resident(pid)


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
        for name in _names(f"/proc/{pid}/fd"):
            try:
                about = os.stat(f"/proc/{pid}/fd/{name}")  # noqa: PTH116, a hot loop
            except OSError:
                continue
            if about.st_nlink == 0 and stat.S_ISREG(about.st_mode):
                found[about.st_dev, about.st_ino] = about.st_blocks * 512
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208, strings are what is wanted
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def in_words(count: float) -> str:
    """A number of bytes as a person reads it: `2.1 GB`, `80 MB`."""
    megabytes = count / MEGABYTE
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1024 else f"{megabytes:.0f} MB"
