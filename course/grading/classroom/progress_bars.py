"""Show the progress of grading a class: bars in a terminal, lines in a log file."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from course.grading.execution.task import Outcome


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
