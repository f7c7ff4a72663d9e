"""Make of an outcome what is saved: the graded notebook's file, what lies beside it, and the marks on its cells.

nbgrader's converter takes a notebook through two passes, each of which reads, copies, checks and writes it. Here the
steps of its second pass, nbgrader's own among them, are applied once to what was executed.
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
    """What is saved of a submission.

    Args:
        files: by relative path; the notebook is one of them.
        marks: what the machine says of each graded cell; a comment of `...` leaves the one before.
        came: when the work came, in UTC and without a zone.
        kept: what the notebook keeps of its grading.
    """

    student: str
    files: dict[str, bytes]
    marks: Marks
    came: datetime | None
    kept: dict[str, Any]


class Finisher:
    """The steps of a class's autograding behind the execution, made once for all its submissions."""

    def __init__(self, classroom: Classroom) -> None:
        self.classroom, self.name = classroom, classroom.topic.folder
        self.steps = [_made(name, classroom.config) for name in BETWEEN]
        self.verdicts, self.check = _made(SAVE, classroom.config), _made(CHECK, classroom.config)

    @cached_property
    def due(self) -> datetime | None:
        """When the topic is due by the gradebook, in UTC and without a zone."""
        due = due_of(self.classroom.coursedir().db_url, self.name)
        return due.replace(tzinfo=None) if due else None

    def finish(self, student: str, task: Task, outcome: Outcome) -> Finished:
        """What is saved of a submission with this outcome.

        Raises:
            Exception: nbgrader's own saving would fail, too.
        """
        import nbformat

        from course.grading.classroom.make_task import files_beside
        from course.grading.nbgrader_bridge.judged_execute import executed_notebook

        coursedir, folder = self.classroom.coursedir(student), self.classroom.submitted(student)
        refuse_name(student)
        refuse_shared(folder)
        refuse_links(folder)
        came = coursedir.get_existing_timestamp(str(folder))
        cells = json.loads(task.notebook)["cells"]
        nb = executed_notebook(task, outcome, cells, arrived(came, self.due))
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
    """One of nbgrader's steps, by the name of its class."""
    module, _, cls = name.rpartition(".")
    return getattr(import_module(module), cls)(config=config)


def _blank(released: ReleasedNotebook) -> Marks:
    """Marks that say nothing yet, and what nbgrader has of a cell that is not there; there are no tasks."""
    return Marks(
        {
            cell.name: SimpleNamespace(auto_score=None, manual_score=None, needs_manual_grade=True)
            for cell in released.grade_cells
        },
        {cell.name: SimpleNamespace(auto_comment=...) for cell in released.solution_cells},
    )


def notebook_file(nb: NotebookNode) -> bytes:
    """A notebook's file for people, byte for byte as nbformat writes it and many times faster; `nb` is used up."""
    lines = split_lines(strip_transient(nb))
    try:
        return msgspec.json.format(notebook_bytes(lines), indent=1) + b"\n"
    except msgspec.DecodeError:  # a number that JSON does not have, as NaN
        return f"{v4.writes(nb)}\n".encode()
