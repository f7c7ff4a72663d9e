"""Save the results of a class: several in one transaction, or one by one through nbgrader as a fallback.

The order of the steps is safe against a stop at any point: write the files to a temporary folder, commit the marks, and
then move the files to their final folder. After an earlier stop, the graded work does not match the submission, so the
next run saves it again from the result store.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.finish import Finished, Finisher
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.save import save
from course.grading.gradebook.scores import Scores
from course.grading.gradebook.write_marks import TopicBook
from course.grading.intake.untrusted import remove, write_files
from course.grading.nbgrader_bridge.converter_bypass import can_bypass_converter
from course.grading.nbgrader_bridge.earlier_points import keep_points
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.nbgrader_bridge.patches import gradebook_transaction

if TYPE_CHECKING:
    from course.grading.execution.task import Outcome, Task

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
