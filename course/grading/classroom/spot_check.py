"""Train some students' models again, and compare their scores with those of the submitted weights.

Loading submitted weights makes grading quick, but trusts that the student's own training loop made them. This spot
check trains a random sample again. It changes no score and only says where to look.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Sequence
from typing import Any

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.make_task import make_task
from course.grading.execution.task import Outcome
from course.grading.gradebook.class_secret import class_secret
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.workers.worker_pool import execute_all, open_pool
from course.syllabus import Topic


def sample(students: Sequence[str], share: float, secret: str, topic: str) -> list[str]:
    """Return a share of `students`, at least one, drawn with the class's secret; it is the same at every grading."""

    def keyed_hash(student: str) -> bytes:
        return hmac.digest(secret.encode(), f"spot check/{topic}/{student}".encode(), "sha256")

    return sorted(sorted(students, key=keyed_hash)[: math.ceil(share * len(students))])


def spot_check(
    course: Course,
    topic: Topic,
    graded: Sequence[Graded],
    share: float,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    settings: dict[str, Any] | None = None,
) -> list[str]:
    """Train a share of the class's models again; returns a line for each task that then earns less, and the students.

    Args:
        share: the share of the graded students, from 0 to 1.
        settings: traits of `JudgedExecute`; the policy becomes `retrain`.
    """
    tasks = {item.name for item in topic.items if item.kind == "task" and item.budget}
    if not tasks:
        return [f"{topic.folder} trains no model, so there is nothing to train again"]
    classroom = Classroom(course, topic, {**(settings or {}), "policy": "retrain"})
    works = {work.student: work for work in graded if work.complete}
    chosen = sample(list(works), share, class_secret(classroom.coursedir().db_url), topic.folder)
    lines = []
    for student, outcome in _trained_anew(classroom, chosen, workers, scheduler):
        if outcome.fault:
            lines.append(f"{student}: could not be trained again, because the grading machine failed: {outcome.fault}")
        lines += [f"{student}: {line}" for line in worse_tasks(works[student], outcome, tasks)]
    return [*sorted(lines), f"trained again: {', '.join(chosen) or 'nobody, because nobody was graded'}"]


def _trained_anew(
    classroom: Classroom, students: Sequence[str], workers: int, scheduler: str | None
) -> list[tuple[str, Outcome]]:
    """Return each student's outcome of training again, from the result store if it is there."""
    submissions, store = classroom.handed_in.submissions(), classroom.store
    done, jobs = [], []
    for student in students:
        with quiet():
            task = make_task(classroom, student, submissions[student])
        if store and (kept := store.get(task)):
            done.append((student, kept))
        else:
            jobs.append((student, task))
    if jobs:
        with open_pool(min(workers, len(jobs)), scheduler, classroom.environment) as pool:
            for student, task, outcome in execute_all(jobs, pool):
                if store:
                    store.put(task, outcome)
                done.append((student, Outcome.from_bytes(outcome)))
    return done


def worse_tasks(work: Graded, outcome: Outcome, tasks: set[str]) -> list[str]:
    """Return a line for each task that earns less when its model is trained again."""
    return [
        f"{verdict.exercise} earns {verdict.score:g} of {verdict.points:g} when it is trained again, and "
        f"{work.verdicts[verdict.exercise].score:g} with the weights handed in. "
        f"{outcome.unfinished.get(verdict.exercise) or 'Find out how these weights were made'}"
        for verdict in outcome.verdicts
        if verdict.exercise in tasks
        and verdict.exercise in work.verdicts
        and verdict.score < work.verdicts[verdict.exercise].score
    ]
