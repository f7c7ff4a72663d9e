"""Show the progress of grading a class, and record each submission's time and memory in a CSV file of the course."""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from course.files import write_atomically
from course.grading.execution.task import Outcome
from course.syllabus import Topic

COLUMNS = ("student", "seconds", "cpu_seconds", "memory_mb", "sandbox", "kernel", "kept", "fault")


class Timings:
    """A table of time and memory with one row for each student, the newest execution."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = {row["student"]: row for row in self._read()}

    @classmethod
    def of(cls, root: Path, topic: Topic) -> Timings:
        """Return the timings of a topic in the course at `root`."""
        return cls(root / ".course" / "timings" / f"{topic.folder}.csv")

    def fault(self, student: str) -> str:
        """Return why the grading machine failed at a student's last execution, or an empty string if it did not."""
        return self._rows.get(student, {}).get("fault") or ""

    def note(self, student: str, outcome: Outcome, kept: bool) -> None:
        """Record the time and memory of an execution; `kept` says that its result came from the store."""
        values = (
            student,
            f"{outcome.seconds:.2f}",
            f"{outcome.cpu:.2f}",
            f"{outcome.memory / 2**20:.0f}",
            outcome.isolation,
            f"cold: {outcome.why_cold}" if outcome.why_cold else "warm",
            "yes" if kept else "no",
            outcome.fault,
        )
        self._rows[student] = dict(zip(COLUMNS, values, strict=True))

    def write(self) -> None:
        """Write the table to its file atomically; ignore a write error, because no grade depends on this file."""
        text = io.StringIO(newline="")
        table = csv.DictWriter(text, COLUMNS)
        table.writeheader()
        table.writerows(self._rows[student] for student in sorted(self._rows))
        with suppress(OSError):
            write_atomically(self.path, text.getvalue().encode())

    def _read(self) -> Iterable[dict[str, str]]:
        try:
            with self.path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, ValueError, csv.Error):
            return []
        return [row for row in rows if set(row) == set(COLUMNS)]


class Progress(Protocol):
    """A receiver of progress events."""

    def begin(self, total: int) -> None:
        """Set the total number of submissions."""

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Count one submission; `outcome` is None if it was graded before or could not be graded."""


class Silence:
    """A receiver that shows nothing."""

    def begin(self, total: int) -> None:
        """Do nothing."""

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Do nothing."""


class Lines:
    """A writer of lines to standard error, at most one in `EVERY` seconds."""

    EVERY = 60.0

    def __init__(self, title: str) -> None:
        self._title, self._total = title, 0
        self._done = self._failed = 0
        self._last = time.monotonic()

    def begin(self, total: int) -> None:
        """Set the total number of submissions."""
        self._total = total

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Count one submission."""
        self._done += 1
        self._failed += outcome is not None and not outcome.final
        if time.monotonic() - self._last >= self.EVERY:
            self._last = time.monotonic()
            failed = f", {self._failed} of them failed" if self._failed else ""
            told = f"{time.strftime('%H:%M')} {self._title}: {self._done} of {self._total} done{failed}"
            with suppress(OSError, ValueError):  # a closed standard error must not stop grading
                print(told, file=sys.stderr, flush=True)


class Bars:
    """A progress bar with count, total, rate, time left, number of failures, and the slowest notebook so far."""

    def __init__(self, title: str, bar: Any) -> None:
        self._bar, self._job = bar, bar.add_task(title, total=None, rate="", note="")
        self._failed = self._done = 0
        self._slowest, self._seconds = "", 0.0

    def begin(self, total: int) -> None:
        """Set the total number of submissions."""
        self._bar.update(self._job, total=total)

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Count one submission."""
        self._done += 1
        if outcome is not None:
            self._failed += not outcome.final
            if outcome.seconds > self._seconds:
                self._slowest, self._seconds = student, outcome.seconds
        elapsed = self._bar.tasks[self._job].elapsed or 0.0
        rate = f"{60 * self._done / elapsed:.0f}/min" if elapsed > 1 else ""
        self._bar.update(self._job, advance=1, rate=rate, note=self._note())

    def _note(self) -> str:
        failed = f"{self._failed} failed  " if self._failed else ""
        return failed + (f"slowest {self._slowest} {self._seconds:.0f} s" if self._slowest else "")


@contextmanager
def show_progress(title: str) -> Iterator[Progress]:
    """Yield progress bars if standard error is a terminal and rich is installed, else lines."""
    if not sys.stderr.isatty():
        yield Lines(title)
        return
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        yield Lines(title)
        return
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=None),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("[dim]{task.fields[note]}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        yield Bars(title, bar)
