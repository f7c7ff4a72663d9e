"""A cache of the results of executions, by the digests of their tasks: unchanged work is never executed twice.

A result is one file, written under a temporary name and then renamed, so that no file is incomplete. A grader that is
stopped loses at most the results of running tasks.
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
    """A store of results in `folder`, which has a folder for each topic."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, task: Task) -> Path:
        """Return the path of a task's result, whether there is one or not."""
        return self.folder / task.name / f"{task.digest()}.zip"

    def get(self, task: Task) -> Outcome | None:
        """Return a task's result; None if it is missing or damaged, or was made without a demanded sandbox."""
        path = self.path(task)
        try:
            outcome = Outcome.from_bytes(path.read_bytes())
        except FileNotFoundError:
            return None
        except Exception:
            log.debug("%s cannot be read, so the work is executed again", path, exc_info=True)
            return None
        with contextlib.suppress(OSError):  # the folder may be read-only
            os.utime(path)
        return None if task.isolated and not outcome.isolated else outcome

    def put(self, task: Task, outcome: bytes) -> None:
        """Save a result, unless the grading machine failed, because such work is executed again."""
        if not Outcome.from_bytes(outcome).final:
            return
        write_atomically(self.path(task), outcome)

    def results(self) -> Iterator[Kept]:
        """Yield all results, sorted by topic."""
        for path in sorted(self.folder.glob("*/*.zip")):
            with contextlib.suppress(FileNotFoundError):  # another process may be pruning
                facts = path.stat()
                yield Kept(path, path.parent.name, facts.st_size, facts.st_mtime)

    def prune(self, days: float) -> list[Kept]:
        """Remove results unused for so many days and old temporary files, and return the results removed."""
        before = time.time() - days * DAY
        for path in self.folder.glob("*/.*"):
            with contextlib.suppress(FileNotFoundError):  # its writer may have just renamed it
                if path.stat().st_mtime < time.time() - DAY:
                    path.unlink()
        gone = [kept for kept in self.results() if not days or kept.used <= before]  # times may lie in the future
        for kept in gone:
            kept.path.unlink(missing_ok=True)
        return gone


def table(results: Iterable[Kept]) -> str:
    """Return a table of the results by topic: how many there are, their size in MB, and when one was last used."""
    by_topic: dict[str, list[Kept]] = {}
    for kept in results:
        by_topic.setdefault(kept.topic, []).append(kept)
    lines = [f"{'topic':<26}{'results':>8}{'MB':>9}   last used"]
    for topic, group in by_topic.items():
        used = datetime.fromtimestamp(max(kept.used for kept in group)).strftime("%Y-%m-%d %H:%M")
        lines.append(f"{topic:<26}{len(group):>8}{sum(kept.size for kept in group) / 1e6:>9.1f}   {used}")
    return "\n".join(lines) if by_topic else "nothing is kept"
