"""Grade a class: examine every submission, execute the submissions in parallel, and save one after the other.

Executing takes seconds for each submission and happens in worker processes. Each result goes into the result store as
it arrives, so that nothing is lost if the grader is stopped. Only this process saves results to the gradebook.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.grading.classroom.choose import Choice, choose_all
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.progress_bars import Progress, Silence
from course.grading.classroom.save import refuse, renew_penalty
from course.grading.classroom.saver import Saved, Saver
from course.grading.classroom.timings import Timings
from course.grading.execution.task import Outcome
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.machine.faults import advice_for
from course.grading.problem import Problem
from course.grading.workers.worker_pool import execute_all, most_workers, open_pool

if TYPE_CHECKING:
    from course.grading.execution.task import Task

log = logging.getLogger(__name__)


def grade_class(
    classroom: Classroom,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    stale: bool = False,
    progress: Progress | None = None,
) -> list[Graded]:
    """Grade the submissions of a class, or only those of `students`, and return the result of each.

    Without `force`, work that was graded before stays as it is, and cached results are used again.

    Args:
        workers: worker processes that execute; by default as many as `most_workers` says.
        scheduler: the address of a Dask scheduler whose workers execute instead.
        stale: grade only work that was graded before and whose tests have changed since; verdicts on exercises whose
            tests have not changed stay as they are.
        progress: receives progress events.

    Raises:
        Problem: there is no submission, or none of a student in `students`, or the topic is being graded already.
    """
    submissions = classroom.handed_in.submissions()
    misnamed = [] if students or stale else classroom.handed_in.misnamed()
    missing = [student for student in students if student not in submissions]
    name = classroom.topic.folder
    if not submissions and not misnamed:
        place = f"submitted/<student>/{name}/{name}.ipynb"
        if others := classroom.handed_in.unknown_topics():
            raise Problem(
                f"there is no {place}, but there are folders named {', '.join(others)}, which is no topic. If the "
                "topic was renamed, restore its old name, or rename these folders and the notebooks in them"
            )
        raise Problem(
            f"there is no {place}, so nothing can be graded. To grade a notebook of your own, run `course "
            "grade my.ipynb`"
        )
    if missing:
        raise Problem(f"there is no submission of {name} by {', '.join(missing)}")
    chosen = {student: submissions[student] for student in students or submissions}
    if stale:
        chosen = {student: folder for student, folder in chosen.items() if LastGrading(classroom, student).stale()}
    round_ = _Round(classroom, chosen, force, stale, progress or Silence())
    most = max(1, min(workers or most_workers(), len(chosen)))
    with topic_lock(classroom.root, name):
        try:
            jobs = round_.jobs()
            first = next(jobs, None)
            if first is not None:  # start no worker pool if nothing has to be executed
                with open_pool(most, scheduler, classroom.environment) as pool:
                    for student, task, outcome in execute_all(chain([first], jobs), pool):
                        round_.finish(student, task, outcome)
            round_.save_rest()
        finally:
            round_.timings.write()
    return [round_.graded[student] for student in sorted(round_.graded)] + misnamed


class _Round:
    """One grading of a class: the submissions to execute, and the results so far."""

    def __init__(
        self, classroom: Classroom, chosen: dict[str, Path], force: bool, stale: bool, progress: Progress
    ) -> None:
        self.classroom, self.chosen, self.force, self.stale = classroom, chosen, force, stale
        self.progress = progress
        self.graded: dict[str, Graded] = {}
        self.notes: dict[str, tuple[str, ...]] = {}
        self.earlier: dict[str, dict[str, Any]] = {}
        self.saver = Saver(classroom)
        self.store = classroom.store
        self.timings = Timings.of(classroom.root, classroom.topic)

    def jobs(self) -> Iterator[tuple[str, Task]]:
        """Yield the submissions that have to be executed, and settle each other one when its turn comes."""
        self.progress.begin(len(self.chosen))
        for choice in choose_all(self.classroom, self.chosen, self.force):
            self.notes[choice.student] = choice.notes
            log.debug("%s: %s", choice.student, f"{choice.step}, as {choice.reason}" if choice.reason else choice.step)
            if choice.step == "execute" and choice.task is not None:
                yield choice.student, choice.task
            else:
                self._settle(choice)

    def _settle(self, choice: Choice) -> None:
        """Carry out the choice for a submission that need not be executed."""
        if choice.step == "refuse":
            self._refuse(choice.student, choice.reason)
        elif choice.step == "set aside":
            self._set_aside(choice.student, choice.task, choice.reason)
        elif choice.step == "leave":
            renew_penalty(self.classroom, choice.student)
            self._close(choice.student)
        elif choice.task is not None and choice.outcome is not None:
            self._hand_over(choice.student, choice.task, choice.outcome, kept=True)
        else:
            self._save(choice.student)

    def finish(self, student: str, task: Task, outcome: bytes) -> None:
        """Put the result of an executed submission into the store, then save it to the gradebook."""
        from course.grading.execution.judged_outputs import with_earlier

        came = Outcome.from_bytes(outcome)
        log.debug("%s: executed by %s in %.1f s %s", student, came.worker, came.seconds, came.fault or came.isolation)
        last = LastGrading(self.classroom, student)
        if self.stale and not came.fault and (fresh := last.fresh(task)):
            came = with_earlier(self.classroom.course, came, fresh, last.own_outputs())
            outcome = came.to_bytes()
        if self.store:
            self.store.put(task, outcome)
        self._hand_over(student, task, came, kept=False)

    def _hand_over(self, student: str, task: Task, outcome: Outcome, kept: bool) -> None:
        self.timings.note(student, outcome, kept)
        if outcome.fault:
            self._set_aside(student, task, f"the grading machine failed: {outcome.fault}", outcome)
            return
        self._save(student, replace(outcome, why_cold="") if kept else outcome, task)

    def _set_aside(self, student: str, task: Task | None, reason: str, outcome: Outcome | None = None) -> None:
        """Refuse a submission for a reason outside the work itself, but keep an earlier grading of the same work."""
        if task is not None and LastGrading(self.classroom, student).is_of(task):
            self.graded[student] = Graded(student, reason=f"{reason}. Its earlier grading stays")
            self.progress.done(student, outcome)
        else:
            self._refuse(student, reason, outcome)

    def _save(self, student: str, outcome: Outcome | None = None, task: Task | None = None) -> None:
        last = LastGrading(self.classroom, student)
        self.earlier[student] = last.earlier(task) if task is not None else {}
        for saved in self.saver.put(student, outcome, task):
            self._saved(saved)

    def save_rest(self) -> None:
        """Save the submissions that are still pending."""
        for saved in self.saver.flush():
            self._saved(saved)

    def _saved(self, saved: Saved) -> None:
        student, outcome = saved.student, saved.outcome
        if saved.error is not None:
            self.graded[student] = Graded(student, reason=advice_for(saved.error))
            self.progress.done(student, outcome)
        elif saved.reason:
            self._refuse(student, saved.reason, outcome)
        else:
            self._close(student, saved)

    def _close(self, student: str, saved: Saved | None = None) -> None:
        last, notes = LastGrading(self.classroom, student), self.notes[student]
        outcome = saved.outcome if saved else None
        graded = (
            last.graded(saved.kept, saved.scores, notes) if saved and saved.kept is not None else last.result(notes)
        )
        why_cold, earlier = outcome.why_cold if outcome else "", self.earlier.pop(student, {})
        self.graded[student] = replace(graded, why_cold=why_cold, **earlier)
        self.progress.done(student, outcome)

    def _refuse(self, student: str, reason: str, outcome: Outcome | None = None) -> None:
        refuse(self.classroom, student)
        self.graded[student] = Graded(student, reason=reason)
        self.progress.done(student, outcome)
