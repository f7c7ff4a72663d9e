"""Find out whose code passes, and make the questions about it."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.course_files.catalogue import counted
from course.grading.course_files.cells import read_notebook
from course.grading.execution.cell_end import KernelFault
from course.grading.execution.own_questions import questions_about
from course.grading.gradebook.class_secret import class_secret
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.viva.sheets import Pool
from course.problem import Problem

log = logging.getLogger(__name__)

MOST_POOL = 9
"""Questions about each answer, of which a sheet holds one or two. Neighbours with the same code get others."""


def chance_of(classroom: Classroom, seed: int) -> int:
    """Return the number that decides what is asked in a round. Students cannot find it out, whatever the seed."""
    plain = f"{class_secret(classroom.coursedir().db_url)}:viva:{classroom.topic.folder}:{seed}"
    return int.from_bytes(hashlib.sha256(plain.encode()).digest()[:6])


def pools(classroom: Classroom, submissions: Mapping[str, Path], chance: int) -> dict[str, Pool | str]:
    """Return for each student the questions about their passing exercises, or the reason why there are none.

    Raises:
        Problem: the machine cannot execute code, or the configuration demands a sandbox and there is none.
    """
    log.info("making questions about the code of %s, about a second each", counted(len(submissions), "student"))
    try:
        return {student: _pool(classroom, student, place, chance) for student, place in submissions.items()}
    except KernelFault as fault:
        raise Problem(f"the machine cannot execute the code, because {fault}. Run `course doctor`") from fault


def _pool(classroom: Classroom, student: str, place: Path, chance: int) -> Pool | str:
    course, topic, graded = classroom.course, classroom.topic, LastGrading(classroom, student)
    if not graded.path.is_file():
        return f"whose work is not graded. Run `course grade {topic.folder}` first"
    with quiet():
        try:
            task = make_task(classroom, student, place)
        except Exception:  # noqa: BLE001 - nbgrader's steps may raise anything, and grading reports it
            return "whose work cannot be read any more. Grading says why"
    if not graded.is_of(task):
        return f"whose work has changed since it was graded. Run `course grade {topic.folder}` first"
    notebook, store = read_notebook(graded.path.read_bytes()), classroom.store
    asked = questions_about(
        course,
        topic,
        notebook,
        seed=chance,
        most=MOST_POOL,
        results=store.folder if store else None,
        isolated=task.isolated,
    )
    pool = {name: made for name, made in asked.items() if not isinstance(made, str)}
    if asked and not pool:
        return f"whose passing code leaves nothing to ask about ({', '.join(asked)})"
    return pool or "of whose exercises none passes"
