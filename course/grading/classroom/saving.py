"""Save the results of a class: several in one transaction, or one by one through nbgrader's autograding."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
from nbformat import NotebookNode, v4
from nbformat.v4.rwbase import split_lines, strip_transient

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.course_files.cells import METADATA, notebook_bytes
from course.grading.gradebook.released_notebook import ReleasedNotebook
from course.grading.gradebook.scores import (
    Marks,
    Scores,
    TopicBook,
    arrived,
    clear_scores,
    due_of,
    enrol,
    keep_reviewed,
    reviewed_cells,
)
from course.grading.intake.untrusted import refuse_links, refuse_name, refuse_shared, remove, write_files
from course.grading.machine.faults import Fault, advice_for, stops_all
from course.grading.nbgrader_bridge.autograde_steps import keep_points
from course.grading.nbgrader_bridge.configure import AUTOGRADE
from course.grading.nbgrader_bridge.converter_bypass import can_bypass_converter
from course.grading.nbgrader_bridge.log_capture import quiet, reason_of
from course.grading.nbgrader_bridge.patches import gradebook_transaction

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
        from course.grading.nbgrader_bridge.autograde_steps import executed_notebook

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


def save(classroom: Classroom, student: str, outcome: Outcome | None = None, task: Task | None = None) -> str:
    """Autograde one submission through nbgrader with a ready `outcome`; returns an error message, empty on success.

    Manual points for answers that are the same in `task` are not flagged for review, even if tests or settings changed.

    Raises:
        Fault: the machine failed, so that saving any student's result would fail.
        OSError: a file of this student's may not be read or written.
    """
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException
    from sqlalchemy.exc import SQLAlchemyError

    from course.grading.nbgrader_bridge.autograde_steps import handed_over
    from course.grading.nbgrader_bridge.sanitise import Sanitized

    about = classroom.coursedir().db_url, classroom.topic.folder, student, classroom.topic.folder
    seen = LastGrading(classroom, student).still_fits(task, reviewed_cells(*about)) if task is not None else {}
    config = classroom.config.copy()
    config.Sanitized.text = classroom.sanitized.get(student)
    with quiet() as said:
        converter = Autograde(coursedir=classroom.coursedir(student), config=config)
        converter.force, converter.exporter_class = True, Sanitized
        try:
            made = handed_over(task, outcome) if task is not None and outcome is not None else nullcontext()
            with gradebook_transaction(converter.coursedir.db_url), made:
                converter.start()
        except (NbGraderException, SystemExit, OSError, SQLAlchemyError) as error:
            cause = said.cause or error
            if stops_all(cause):
                raise Fault(f"what became of {student} could not be saved: {advice_for(cause)}") from error
            if isinstance(cause, OSError) and advice_for(cause):
                place = classroom.autograded(student)
                cause.filename = str(place / str(cause.filename))  # it may be a bare file name
                raise cause from None
            return reason_of(said, error)
    if seen:
        keep_reviewed(*about, seen)
    return ""


def renew_penalty(classroom: Classroom, student: str) -> None:
    """Compute the late penalty again with the current rule and points, because manual points come after grading."""
    from course.grading.nbgrader_bridge.late_penalty import KeepLatePenalties

    name = classroom.topic.folder
    about = {"notebook": name, "assignment": name, "student": student, "db_url": classroom.coursedir().db_url}
    with quiet():
        KeepLatePenalties(config=classroom.config).preprocess(NotebookNode(cells=[]), {"nbgrader": about})


def refuse(classroom: Classroom, student: str) -> None:
    """Remove the earlier grading of a submission that can no longer be graded, after noting its points."""
    keep_points(classroom.coursedir(), classroom.topic.folder, student)
    classroom.sanitized.pop(student, None)
    enrol(classroom.coursedir().db_url, student)
    clear_scores(classroom.coursedir().db_url, classroom.topic.folder, student, [classroom.topic.folder])
    folder = classroom.autograded(student)
    if folder.is_dir():
        remove(folder)


log = logging.getLogger(__name__)

MOST = 8
"""Submissions in one transaction, so that other writers of the gradebook wait only a fraction of a second."""

PAUSE = 0.5
"""Seconds between transactions while submissions come quickly; after such a pause, the next one is saved at once."""

READ_ONLY = 0o444
"""The file mode of graded files, the same as nbgrader's."""


@dataclass(frozen=True)
class Saved:
    """The result of saving a submission: `reason` is nbgrader's message if it failed, `error` the error of a file.

    `kept` is the grading metadata in its notebook and `scores` its scores in the gradebook, if known.
    """

    student: str
    outcome: Outcome | None
    reason: str = ""
    error: OSError | None = None
    kept: dict[str, Any] | None = None
    scores: Scores | None = None


@dataclass(frozen=True)
class _Pending:
    """A submission whose marks are not committed yet; its files are in the hidden folder `beside` the final one."""

    task: Task
    outcome: Outcome
    finished: Finished
    beside: Path


@dataclass
class Saver:
    """A writer that saves the submissions of a class as they come."""

    classroom: Classroom
    pending: list[_Pending] = field(default_factory=list)
    written: float = 0.0

    def __post_init__(self) -> None:
        released = self.classroom.released
        ours = can_bypass_converter(self.classroom.config) and not released.task_cells
        self.finisher = Finisher(self.classroom) if ours else None

    def put(self, student: str, outcome: Outcome | None, task: Task | None) -> Iterator[Saved]:
        """Save a submission now or in a later transaction; yields the submissions that are saved.

        Raises:
            Fault: the machine failed, so that saving any student's result would fail.
        """
        prepared = self._prepared(student, outcome, task)
        if prepared is None:
            yield self._by_nbgrader(student, outcome, task)
            return
        self.pending.append(prepared)
        if len(self.pending) >= MOST or time.monotonic() > self.written + PAUSE:
            yield from self.flush()

    def flush(self) -> Iterator[Saved]:
        """Save all pending submissions.

        Raises:
            Fault: the machine failed, so that saving any student's result would fail.
        """
        group, self.pending = self.pending, []
        if not group:
            return
        try:
            scores = self._commit(group)
        except Exception:
            log.debug("a transaction for %d submissions failed, so nbgrader saves each", len(group), exc_info=True)
            for one in group:
                remove(one.beside)
                yield self._by_nbgrader(one.finished.student, one.outcome, one.task)
        else:
            log.debug("%s: saved in one transaction", ", ".join(one.finished.student for one in group))
            for one, known in zip(group, scores):
                yield self._placed(one, known)
        finally:
            self.written = time.monotonic()

    def _by_nbgrader(self, student: str, outcome: Outcome | None, task: Task | None) -> Saved:
        log.debug("%s: saved by nbgrader's converter", student)
        try:
            return Saved(student, outcome, reason=save(self.classroom, student, outcome, task))
        except OSError as error:
            return Saved(student, outcome, error=error)

    def _prepared(self, student: str, outcome: Outcome | None, task: Task | None) -> _Pending | None:
        """Write a submission's files to a hidden folder; None if nbgrader has to save it, or to report the error."""
        if self.finisher is None or task is None or outcome is None or student not in self.classroom.sanitized:
            return None
        place = self.classroom.autograded(student)
        beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        try:
            with quiet():
                finished = self.finisher.finish(student, task, outcome)
                if not LastGrading(self.classroom, student).is_of(task):
                    keep_points(self.classroom.coursedir(), self.classroom.topic.folder, student)
            _remove_left(place)
            beside.mkdir(parents=True)
            write_files(finished.files, beside)
            for name in finished.files:
                (beside / name).chmod(READ_ONLY)
        except Exception:
            log.debug("%s: our own steps failed, so nbgrader saves it", student, exc_info=True)
            with suppress(OSError):
                remove(beside)
            return None
        return _Pending(task, outcome, finished, beside)

    def _commit(self, group: list[_Pending]) -> list[Scores]:
        """Write the marks of the whole group in one transaction, or of none of it."""
        from nbgrader.api import Gradebook

        from course.grading.nbgrader_bridge.late_penalty import KeepLatePenalties

        database, topic = self.classroom.coursedir().db_url, self.classroom.topic.folder
        penalties = KeepLatePenalties(config=self.classroom.config)
        rule = penalties.penalty if penalties.has_rule() else None
        with quiet(), gradebook_transaction(database), Gradebook(database) as gradebook:
            book = TopicBook(gradebook, topic, rule)
            return [self._write(book, one) for one in group]

    def _write(self, book: TopicBook, one: _Pending) -> Scores:
        finished = one.finished
        fits = partial(LastGrading(self.classroom, finished.student).still_fits, one.task)
        return book.write(finished.student, finished.marks, finished.came, fits)

    def _placed(self, one: _Pending, scores: Scores) -> Saved:
        """Move the files of a submission to the final folder, replacing those of an earlier grading."""
        student, place = one.finished.student, self.classroom.autograded(one.finished.student)
        before = place.with_name(f".{place.name}.before.{secrets.token_hex(4)}")
        try:
            if place.is_dir():
                place.rename(before)
            one.beside.rename(place)
            if before.is_dir():
                remove(before)
        except OSError as error:
            return Saved(student, one.outcome, error=error)
        return Saved(student, one.outcome, kept=one.finished.kept, scores=scores)


def _remove_left(place: Path) -> None:
    """Remove hidden folders that a stopped grader left beside a student's graded work."""
    for left in place.parent.glob(f".{place.name}.*"):
        remove(left)
