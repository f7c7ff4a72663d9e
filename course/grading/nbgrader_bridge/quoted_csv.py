"""Export nbgrader's table of grades with quoted names, so that a comma in a name starts no new column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbgrader.plugins import CsvExportPlugin

from course.syllabus import Topic


class QuotedCsv(CsvExportPlugin):
    """nbgrader's exporter with quoted fields, because it joins fields with commas: `King, Jr.` became two columns."""

    def export(self, gradebook: Any) -> None:
        """Write the table of all students in `gradebook`, after computing late penalties again."""
        from course.grading.nbgrader_bridge.late_penalty import renew_penalties

        for name in self.assignment or [assignment.name for assignment in gradebook.assignments]:
            if changed := renew_penalties(self.config, gradebook, name):
                self.log.warning("%s: late penalties were recomputed for %s", name, ", ".join(changed))
        super().export(_Quoting(gradebook))


def write_csv(config: Any, topics: Sequence[Topic], path: Path) -> None:
    """Write nbgrader's own table of these topics to `path`."""
    from nbgrader.api import Gradebook

    plugin = QuotedCsv(config=config)
    plugin.to, plugin.assignment = str(path), [topic.folder for topic in topics]
    with Gradebook(config.CourseDirectory.db_url) as gradebook:
        plugin.export(gradebook)


class _Field(str):
    """A text that is put in quotes in a line of CSV, if it needs them."""

    def __format__(self, spec: str) -> str:
        quoted = self.replace('"', '""')
        return f'"{quoted}"' if set(self) & set(',"\r\n') else str(self)


class _Quoting:
    """The part of a gradebook that the exporter uses, with students' names as `_Field`."""

    def __init__(self, gradebook: Any) -> None:
        self.assignments, self.find_submission = gradebook.assignments, gradebook.find_submission
        self.students = [
            SimpleNamespace(
                **{name: _Field(getattr(student, name) or "") for name in ("id", "last_name", "first_name", "email")}
            )
            for student in gradebook.students
        ]
