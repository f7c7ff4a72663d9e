"""Turn the outcome of an execution into the data to save: the graded notebook, other files, and each cell's marks.

nbgrader's converter takes a notebook through two passes, each of which reads, copies, checks and writes it. This module
applies the steps of the second pass, nbgrader's own included, once to the executed notebook.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
from nbformat import NotebookNode, v4
from nbformat.v4.rwbase import split_lines, strip_transient

from course.grading.cells import METADATA, notebook_bytes
from course.grading.classroom.classroom import Classroom
from course.grading.gradebook.released_notebook import ReleasedNotebook
from course.grading.gradebook.scores import Marks, arrived, due_of
from course.grading.intake.untrusted import refuse_links, refuse_name, refuse_shared
from course.grading.nbgrader_bridge.configure import AUTOGRADE

if TYPE_CHECKING:
    from course.grading.execution.task import Outcome, Task

EXECUTE, *BETWEEN, SAVE, PENALTY, CHECK = AUTOGRADE


@dataclass(frozen=True)
class Finished:
    """The data to save for one submission.

    Args:
        files: contents by relative path, the notebook included.
        marks: the autograder's marks on each graded cell; a comment of `...` keeps the earlier comment.
        came: the arrival time, in UTC and without a zone.
        kept: the metadata about the grading that the notebook keeps.
    """

    student: str
    files: dict[str, bytes]
    marks: Marks
    came: datetime | None
    kept: dict[str, Any]


class Finisher:
    """The autograding steps that follow execution, created once for all submissions of a class."""

    def __init__(self, classroom: Classroom) -> None:
        self.classroom, self.name = classroom, classroom.topic.folder
        self.steps = [_made(name, classroom.config) for name in BETWEEN]
        self.verdicts, self.check = _made(SAVE, classroom.config), _made(CHECK, classroom.config)

    @cached_property
    def due(self) -> datetime | None:
        """Return the topic's due date from the gradebook, in UTC and without a zone."""
        due = due_of(self.classroom.coursedir().db_url, self.name)
        return due.replace(tzinfo=None) if due else None

    def finish(self, student: str, task: Task, outcome: Outcome) -> Finished:
        """Return the data to save for a submission with this outcome.

        Raises:
            Exception: saving through nbgrader would fail, too.
        """
        import nbformat

        from course.grading.classroom.make_task import files_beside
        from course.grading.nbgrader_bridge.judged_execute import executed_notebook

        coursedir, folder = self.classroom.coursedir(student), self.classroom.submitted(student)
        refuse_name(student)
        refuse_shared(folder)
        refuse_links(folder)
        came, course = coursedir.get_existing_timestamp(str(folder)), self.classroom.course
        cells = json.loads(task.notebook)["cells"]
        nb = executed_notebook(course, task, outcome, cells, arrived(came, self.due, course.late_rule))
        about = {"student": student, "assignment": self.name, "notebook": self.name, "db_url": coursedir.db_url}
        resources: dict[str, Any] = {"nbgrader": about, "unique_key": self.name}
        for step in self.steps:
            nb, resources = step(nb, resources)
        marks = _blank(self.classroom.released)
        self.verdicts.decide(nb, resources, marks)
        self.check(nb, resources)
        nbformat.validate(nb, relax_add_props=True)
        kept = dict(nb.metadata.get(METADATA, {}))
        files = {**files_beside(self.classroom, folder), **outcome.files, f"{self.name}.ipynb": notebook_file(nb)}
        return Finished(student, files, marks, came, kept)


def _made(name: str, config: Any) -> Any:
    """Create one of nbgrader's steps from the full name of its class."""
    module, _, cls = name.rpartition(".")
    return getattr(import_module(module), cls)(config=config)


def _blank(released: ReleasedNotebook) -> Marks:
    """Return empty marks, with nbgrader's defaults for a missing cell; notebooks with task cells never come here."""
    return Marks(
        {
            cell.name: SimpleNamespace(auto_score=None, manual_score=None, needs_manual_grade=True)
            for cell in released.grade_cells
        },
        {cell.name: SimpleNamespace(auto_comment=...) for cell in released.solution_cells},
    )


def notebook_file(nb: NotebookNode) -> bytes:
    """Return the bytes of a notebook file as nbformat writes it, but many times faster; this modifies `nb`."""
    lines = split_lines(strip_transient(nb))
    try:
        return msgspec.json.format(notebook_bytes(lines), indent=1) + b"\n"
    except msgspec.DecodeError:  # a number that JSON does not have, such as NaN
        return f"{v4.writes(nb)}\n".encode()
