"""Save the result of one submission to the gradebook through nbgrader's autograding, or remove an earlier result."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.gradebook.scores import clear_scores, enrol, keep_reviewed, reviewed_cells
from course.grading.intake.untrusted import remove
from course.grading.machine.faults import Fault, advice_for, stops_all
from course.grading.nbgrader_bridge.earlier_points import keep_points
from course.grading.nbgrader_bridge.log_capture import quiet, reason_of
from course.grading.nbgrader_bridge.patches import gradebook_transaction

if TYPE_CHECKING:
    from course.grading.execution.task import Outcome, Task


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

    from course.grading.nbgrader_bridge.judged_execute import handed_over
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
