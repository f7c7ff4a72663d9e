"""Record the time and memory of each submission in a CSV file of the course."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

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
