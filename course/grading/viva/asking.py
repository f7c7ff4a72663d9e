"""Find out whose code passes, and make the questions about it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.course_files.cells import read_notebook
from course.grading.execution.cell_end import KernelFault
from course.grading.execution.own_questions import passing, questions_about
from course.grading.gradebook.class_secret import class_secret
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.viva.sheets import Pool
from course.problem import Problem

MOST_POOL = 9
"""Questions about each answer, of which a sheet holds one or two. Neighbours with the same code get others."""


def chance_of(classroom: Classroom, seed: int) -> int:
    """Return the number that decides what is asked in a round. Students cannot find it out, whatever the seed."""
    plain = f"{class_secret(classroom.coursedir().db_url)}:viva:{classroom.topic.folder}:{seed}"
    return int.from_bytes(hashlib.sha256(plain.encode()).digest()[:6])


@dataclass(frozen=True)
class Work:
    """A student's graded notebook, a digest of its code, and the exercises that pass."""

    notebook: NotebookNode
    code: str
    passing: tuple[str, ...]
    isolated: bool


def work_of(classroom: Classroom, student: str, place: Path) -> Work | str:
    """Return the graded work in `place`, or the reason why nothing is asked about it."""
    topic, graded = classroom.topic, LastGrading(classroom, student)
    if not graded.path.is_file():
        return f"whose work is not graded. Run `course grade {topic.folder}` first"
    with quiet():
        try:
            task = make_task(classroom, student, place)
        except Exception:  # noqa: BLE001 - nbgrader's steps may raise anything, and grading reports it
            return "whose work cannot be read any more. Grading says why"
    if not graded.is_of(task):
        return f"whose work has changed since it was graded. Run `course grade {topic.folder}` first"
    notebook = read_notebook(graded.path.read_bytes())
    code = "\0".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    digest = hashlib.sha256(code.encode(errors="surrogatepass")).hexdigest()
    passes = tuple(passing(topic, notebook))
    return Work(notebook, digest, passes, task.isolated) if passes else "of whose exercises none passes"


def pool_of(classroom: Classroom, work: Work, chance: int) -> Pool | str:
    """Return the questions about passing exercises, or the reason why there are none.

    Raises:
        Problem: the machine cannot execute code, or the configuration demands a sandbox and there is none.
    """
    store = classroom.store
    try:
        asked = questions_about(
            classroom.course,
            classroom.topic,
            work.notebook,
            work.passing,
            seed=chance,
            most=MOST_POOL,
            results=store.folder if store else None,
            isolated=work.isolated,
        )
    except KernelFault as fault:
        raise Problem(f"the machine cannot execute the code, because {fault}. Run `course doctor`") from fault
    pool = {name: made for name, made in asked.items() if not isinstance(made, str)}
    return pool or f"whose passing code leaves nothing to ask about ({', '.join(asked)})"
