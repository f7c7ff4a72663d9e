"""Results of executions, kept by the digests of what decided them: unchanged work is never executed twice.

A result is one file, written under another name and renamed, so that it is there whole or not at all; whoever stops
the grader loses at most what was running.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from course.files import write_atomically
from course.grading.execution.task import Outcome, Task

log = logging.getLogger(__name__)

DAY = 86_400.0


@dataclass(frozen=True)
class Kept:
    """One result in the store: `used` is when it was last read or written, in seconds since 1970."""

    path: Path
    topic: str
    size: int
    used: float


class Store:
    """The results in `folder`, a folder for each topic."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: Task) -> Path:
        """Where the result of a task is or would be."""
        return self.folder / task.name / f"{task.digest()}.zip"

    def get(self, task: Task) -> Outcome | None:
        """The result of a task, if it is there, whole, and came about in a sandbox where the task demands one."""
        path = self.path(task)
        try:
            outcome = Outcome.from_bytes(path.read_bytes())
        except FileNotFoundError:
            return None
        except Exception:
            log.debug("%s cannot be read, so the work is executed again", path, exc_info=True)
            return None
        with contextlib.suppress(OSError):  # a folder for reading only
            os.utime(path)
        return None if task.isolated and not outcome.isolated else outcome

    def put(self, task: Task, outcome: bytes) -> None:
        """Keep a result, unless the grading machine failed: such work is to be tried again."""
        if not Outcome.from_bytes(outcome).final:
            return
        write_atomically(self.path(task), outcome)

    def results(self) -> Iterator[Kept]:
        """All that is kept, by topic."""
        for path in sorted(self.folder.glob("*/*.zip")):
            with contextlib.suppress(FileNotFoundError):  # somebody else prunes just now
                facts = path.stat()
                yield Kept(path, path.parent.name, facts.st_size, facts.st_mtime)

    def prune(self, days: float) -> list[Kept]:
        """Remove what was not used for so many days, and what writers left behind; returns the results that went."""
        before = time.time() - days * DAY
        for path in self.folder.glob("*/.*"):
            with contextlib.suppress(FileNotFoundError):  # whose writer has just come to its end
                if path.stat().st_mtime < time.time() - DAY:
                    path.unlink()
        gone = [kept for kept in self.results() if not days or kept.used <= before]  # a clock may have been ahead
        for kept in gone:
            kept.path.unlink(missing_ok=True)
        return gone


def table(results: Iterable[Kept]) -> str:
    """What is kept for each topic: how many results, how large, when last used."""
    by_topic: dict[str, list[Kept]] = {}
    for kept in results:
        by_topic.setdefault(kept.topic, []).append(kept)
    lines = [f"{'topic':<26}{'results':>8}{'MB':>9}   last used"]
    for topic, group in by_topic.items():
        used = datetime.fromtimestamp(max(kept.used for kept in group)).strftime("%Y-%m-%d %H:%M")
        lines.append(f"{topic:<26}{len(group):>8}{sum(kept.size for kept in group) / 1e6:>9.1f}   {used}")
    return "\n".join(lines) if by_topic else "nothing is kept"
