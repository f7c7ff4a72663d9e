"""Decide whether a submission is executed, saved, left or refused, without changing anything."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.execution.task import Outcome, Task
from course.grading.intake.arrival_time import Undated
from course.grading.intake.check_submission import examine
from course.grading.intake.untrusted import printable
from course.grading.machine.faults import advice_for, stops_all
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.problem import Problem

log = logging.getLogger(__name__)

Step = Literal["execute", "save", "leave", "refuse", "set aside"]
"""The next step for a submission. "save" stores a cached result, or lets nbgrader report what is wrong. "leave" keeps
the present grading. "set aside" refuses the submission, but keeps an earlier grading of the same work."""


@dataclass(frozen=True)
class Choice:
    """The decision about one student's submission.

    Args:
        task: the task that executes the submission; None if it could not be made.
        outcome: the cached result of an earlier execution.
        reason: why the submission is refused or set aside.
        notes: what was repaired or noticed in the submission.
    """

    student: str
    step: Step
    task: Task | None = None
    outcome: Outcome | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()


def choose_all(classroom: Classroom, chosen: Mapping[str, Path], force: bool) -> Iterator[Choice]:
    """Yield the decision about each of the submissions `chosen`, lazily."""
    for student, folder in chosen.items():
        yield choose(classroom, student, folder, force)


def choose(classroom: Classroom, student: str, folder: Path, force: bool) -> Choice:
    """Decide about the submission in `folder`; with `force`, ignore earlier gradings and cached results.

    Raises:
        OSError: the machine cannot continue, for example because its disk is full.
    """
    notes: tuple[str, ...] = ()
    aside = ""
    try:
        notes = tuple(examine(classroom.course, folder, classroom.topic.folder))
    except Undated as problem:
        aside = str(problem)
    except Problem as problem:
        return Choice(student, "refuse", reason=str(problem))
    except OSError as error:
        if stops_all(error):
            raise
        return Choice(student, "refuse", reason=advice_for(error) or str(error))
    except Exception as error:
        log.debug("%s: cannot be examined", student, exc_info=True)
        aside = f"it cannot be examined ({printable(str(error)) or type(error).__name__:.80})"
    task = _task(classroom, student, folder)
    if aside:
        return Choice(student, "set aside", task, reason=aside)
    if task is None:
        return Choice(student, "save", notes=notes)
    if not force and LastGrading(classroom, student).is_done(task):
        return Choice(student, "leave", task, notes=notes)
    if not force and classroom.store and (kept := classroom.store.get(task)):
        return Choice(student, "save", task, kept, notes=notes)
    return Choice(student, "execute", task, notes=notes)


def _task(classroom: Classroom, student: str, folder: Path) -> Task | None:
    with quiet():
        try:
            return make_task(classroom, student, folder)
        except Exception:
            log.debug("%s: no task could be made of the work, so nbgrader saves it", student, exc_info=True)
            return None
