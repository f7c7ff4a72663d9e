"""Find out whose code passes, and make the questions about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.execution.own_questions import questions_about
from course.grading.gradebook.class_secret import class_secret
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.viva.sheets import Pool

MOST_POOL = 9
"""Questions about each answer, of which a sheet holds one or two. Neighbours with the same code get others."""


def chance_of(classroom: Classroom, seed: int) -> int:
    """Return the number that decides what is asked in a round. Students cannot find it out, whatever the seed."""
    plain = f"{class_secret(classroom.coursedir().db_url)}:viva:{classroom.topic.folder}:{seed}"
    return int.from_bytes(hashlib.sha256(plain.encode()).digest()[:6])


def pools(classroom: Classroom, submissions: Mapping[str, Path], chance: int) -> Iterable[tuple[str, Pool | str]]:
    """Yield each student with the questions about their passing exercises, or with the reason why there are none."""
    for student, place in submissions.items():
        yield student, _pool(classroom, student, place, chance)


def _pool(classroom: Classroom, student: str, place: Path, chance: int) -> Pool | str:
    graded = LastGrading(classroom, student)
    verdicts = graded.result().verdicts
    if not verdicts:
        return f"is not graded. Run `course grade {classroom.topic.folder}` first"
    with quiet():
        try:
            task = make_task(classroom, student, place)
        except Exception:  # noqa: BLE001 - nbgrader's steps may raise anything, and grading reports it
            return "cannot be read any more. Grading says why"
    if not graded.is_of(task):
        return f"has changed since it was graded. Run `course grade {classroom.topic.folder}` first"
    items = [item.name for item in classroom.topic.items if item.kind == "exercise"]
    passing = [name for name in items if name in verdicts and verdicts[name].kind == "passed"]
    if not passing:
        return "has no exercise that passes"
    asked = questions_about(classroom.course, classroom.topic, task.notebook, passing, chance, MOST_POOL)
    pool = {name: made for name in passing if not isinstance(made := asked[name], str)}
    return pool or "has passing code, but none of it can be asked about"
