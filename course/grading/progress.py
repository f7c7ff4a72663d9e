"""How far the grading of a class is: bars on a terminal, silence elsewhere, and a file of what everything took."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from course.grading.task import Outcome
from course.notebook.folder import write_atomically
from course.syllabus import Topic

COLUMNS = ("student", "seconds", "cpu_seconds", "memory_mb", "sandbox", "kernel", "kept", "fault")


class Progress(Protocol):
    """Is told what happens."""

    def begin(self, total: int) -> None:
        """So many submissions are looked at."""

    def done(self, student: str, outcome: Outcome | None) -> None:
        """One is graded; `outcome` is None when that was so already, or could not be done."""


class Silence:
    """Says nothing."""

    def begin(self, total: int) -> None:
        """Nothing."""

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Nothing."""


class Bars:
    """A bar with done and total, the rate, the time left, what failed, and the slowest notebook so far."""

    def __init__(self, title: str, bar: Any) -> None:
        self._bar, self._job = bar, bar.add_task(title, total=None, rate="", note="")
        self._failed = self._done = 0
        self._slowest, self._seconds = "", 0.0

    def begin(self, total: int) -> None:
        """So many submissions are looked at."""
        self._bar.update(self._job, total=total)

    def done(self, student: str, outcome: Outcome | None) -> None:
        """One is graded."""
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
def on_terminal(title: str) -> Iterator[Progress]:
    """Bars where standard error is a terminal and rich is installed, else silence."""
    if not sys.stderr.isatty():
        yield Silence()
        return
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        yield Silence()
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


class Timings:
    """What every submission took, for a table: a row for each, the newest for a student replacing the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = {row["student"]: row for row in self._read()}

    @classmethod
    def of(cls, root: Path, topic: Topic) -> Timings:
        """Those of the class that the course at `root` has in a topic."""
        return cls(root / ".course" / "timings" / f"{topic.folder}.csv")

    def fault(self, student: str) -> str:
        """Why the grading machine failed when it last executed a student's work; nothing where it did not."""
        return self._rows.get(student, {}).get("fault") or ""

    def note(self, student: str, outcome: Outcome, kept: bool) -> None:
        """What an execution took; `kept` when its result was there from an earlier time."""
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
        """Put the table into its file, whole; one that cannot be written is missed by nobody's grade."""
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
