"""The time and memory of each submission, as a table beside the class."""

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
