"""Write a topic's feedback pages in parallel processes, each with its own converter, and find outdated pages."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import datetime
from glob import glob
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.grading.classroom.progress_bars import Progress, Silence, show_progress
from course.grading.execution.worker_pool import FORKS, end_with_parent, most_workers
from course.grading.intake.regrade_requests import kept_requests
from course.grading.intake.untrusted import remove
from course.grading.machine.shutdown import ENDING, delay_signals, do_nothing, ignore_signals
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.nbgrader_bridge.page_writer import PageWriter, for_feedback
from course.grading.nbgrader_bridge.patches import cache_lookups
from course.problem import Problem

if TYPE_CHECKING:
    from course.grading.classroom.classroom import Classroom
    from course.grading.classroom.graded import Graded


DIED = "the process that wrote it alone ended, perhaps because memory is short"


def write_one_by_one(config: Any, pages: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Write the `pages` of students in this process; yields each student with an error message, empty on success.

    Raises:
        Fault: the machine failed, for example because its disk is full.
    """
    writer = PageWriter(config)
    for student in pages:
        yield student, writer.write(student)


def write_side_by_side(
    root: Path, assignment: str, config: Any, pages: Mapping[str, Path], size: int
) -> Iterator[tuple[str, str]]:
    """Write the `pages` in `size` processes; if one dies, retry the rest in a single one to find the failing page.

    Raises:
        Fault: the machine failed, for example because its disk is full.
    """
    waiting = dict(pages)
    while waiting:
        with _Processes(root, assignment, config, waiting, size) as futures:
            for student, future in futures.items():
                try:
                    reason = future.result()
                except BrokenProcessPool:
                    if size > 1:
                        continue
                    reason = DIED
                del waiting[student]
                yield student, reason
                if reason is DIED:
                    break
        size = 1


class _Processes:
    """A process pool that writes pages during a `with` block; an exception in the block kills the processes."""

    def __init__(self, root: Path, assignment: str, config: Any, pages: Mapping[str, Path], size: int) -> None:
        # A fork inherits all imports. A spawned process reads the configuration itself, which may not be picklable.
        self.context: Any = multiprocessing.get_context("fork" if FORKS else "spawn")
        self.begin = root, assignment, config if FORKS else None
        self.pages, self.size = dict(pages), size

    def __enter__(self) -> dict[str, Future[str]]:
        self.pool = ProcessPoolExecutor(self.size, mp_context=self.context, initializer=_begin, initargs=self.begin)
        with delay_signals():  # a signal during the start could leave a process that nothing ends
            self.futures = {student: self._submit(student) for student in self.pages}
        return self.futures

    def _submit(self, student: str) -> Future[str]:
        try:
            return self.pool.submit(_write, student)
        except BrokenProcessPool as error:  # a process has died already
            future: Future[str] = Future()
            future.set_exception(error)
            return future

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with ignore_signals():
            if kind is not None:
                for process in multiprocessing.active_children():
                    process.kill()
            self.pool.shutdown(wait=True, cancel_futures=True)
            for student, future in self.futures.items():
                page = self.pages[student]
                unwritten = future.cancelled() or future.exception() is not None
                if unwritten and page.parent.is_dir() and not page.is_file():
                    remove(page.parent)  # an unfinished page's folder


def _begin(root: Path, assignment: str, config: Any) -> None:
    """Initialize a worker process: ignore the terminal's signals, end with the parent, and create the page writer."""
    for number in ENDING:  # the terminal sends these to all processes, but only the parent sends SIGTERM
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else do_nothing)
    end_with_parent()
    global _writer
    _writer = PageWriter(config if config is not None else for_feedback(load_config(root), assignment)[0])


def _write(student: str) -> str:
    return _writer.write(student)


_writer: PageWriter


AFTER_POINTS = "If you gave points or comments since, run `nbgrader generate_feedback {}`"


class Feedback:
    """The feedback pages of an assignment.

    Args:
        root: the course's folder.
        config: the course's configuration, if it was read before.

    Raises:
        Problem: the configuration cannot be read.
    """

    def __init__(self, root: Path, assignment: str, config: Any = None) -> None:
        from nbgrader.coursedir import CourseDirectory

        from course.grading.nbgrader_bridge.page_writer import for_feedback

        cache_lookups()
        self.root, self.assignment = root, assignment
        self.config, self._counts_penalties = for_feedback(config or load_config(root), assignment)
        self.coursedir = CourseDirectory(config=self.config)

    def page(self, student: str) -> Path:
        """Return the path of a student's page."""
        return self._place(self.coursedir.feedback_directory, student, "html")

    def graded(self) -> list[str]:
        """Return the students who have a graded notebook."""
        found = glob(str(self._notebook("*")))  # noqa: PTH207
        return sorted(Path(path).parent.parent.name for path in found)

    def outdated(self, students: Sequence[str]) -> list[str]:
        """Return those of `students` who have no page, or a grading or a decided request that is newer than it."""
        decided: dict[str, float] = {}
        for one in kept_requests(self.root, self.assignment):
            if one.decision:
                at = datetime.fromisoformat(one.decision.at).timestamp()
                decided[one.asked.student] = max(at, decided.get(one.asked.student, 0.0))
        return [
            name
            for name in students
            if not _is_newer(self.page(name), self._notebook(name))
            or decided.get(name, 0.0) >= self.page(name).stat().st_mtime // 1
        ]

    def write(
        self, students: Sequence[str], *, workers: int | None = None, progress: Progress | None = None
    ) -> dict[str, str]:
        """Write pages again, as `nbgrader generate_feedback` does.

        Args:
            workers: processes that write; by default as many as `most_workers` says.
            progress: receives an event for every page.

        Returns:
            The students whose page could not be written, each with the reason.

        Raises:
            Fault: the machine failed. Finished pages stay, and no page is half written.
        """
        progress = progress or Silence()
        progress.begin(len(students))
        self._count_penalties()
        pages = {student: self.page(student) for student in students}
        size = min(workers or most_workers(), len(pages))
        if size > 1:
            written = write_side_by_side(self.root, self.assignment, self.config, pages, size)
        else:
            written = write_one_by_one(self.config, pages)
        failed = {}
        for student, reason in written:
            progress.done(student, None)
            if reason or not pages[student].is_file():
                failed[student] = reason or "nbgrader passed over it, as its configuration says"
        return failed

    def _count_penalties(self) -> None:
        """Compute late penalties again, only in this process."""
        if self._counts_penalties:
            from nbgrader.api import Gradebook

            from course.grading.nbgrader_bridge.late_penalty import renew_penalties

            with quiet(), Gradebook(self.coursedir.db_url) as gradebook:
                renew_penalties(self.config, gradebook, self.assignment)

    def _notebook(self, student: str) -> Path:
        return self._place(self.coursedir.autograded_directory, student, "ipynb")

    def _place(self, step: str, student: str, kind: str) -> Path:
        return Path(self.coursedir.format_path(step, student, self.assignment), f"{self.assignment}.{kind}")


def _is_newer(page: Path, notebook: Path) -> bool:
    return page.is_file() and page.stat().st_mtime_ns > notebook.stat().st_mtime_ns


def write_all(root: Path, assignment: str, *, workers: int | None = None) -> tuple[dict[str, Path], dict[str, str]]:
    """Write the pages of all graded students.

    Returns:
        The pages by student, and the students whose page could not be written, each with the reason. Old pages of
        students who are no longer graded are not included.

    Raises:
        Problem: nothing of the assignment is graded, or the gradebook cannot be read.
    """
    feedback = Feedback(root, assignment)
    students = feedback.graded()
    if not students:
        raise Problem(f"nothing of {assignment} is graded yet. Run `course grade {assignment}` first")
    failed = feedback.write(students, workers=workers)
    return {student: feedback.page(student) for student in students if student not in failed}, failed


def write_after_grading(classroom: Classroom, graded: Sequence[Graded], workers: int | None) -> tuple[list[str], bool]:
    """Write the outdated pages of students in `graded`; returns lines to print, and whether all could be written.

    Raises:
        Fault: the machine failed, for example because its disk is full.
    """
    name = classroom.topic.folder
    feedback = Feedback(classroom.root, name, classroom.config)
    those = [work.student for work in graded if work.scores is not None and not work.reason]
    if not those:
        return ["No page was written, because nothing is graded"], True
    students = feedback.outdated(those)
    if not students:
        return [f"Every page is newer than its grading. {AFTER_POINTS.format(name)}"], True
    with show_progress(f"{name} feedback") as progress:
        failed = feedback.write(students, workers=workers, progress=progress)
    written = len(students) - len(failed)
    pages = "1 page was" if written == 1 else f"{written} pages were"
    lines = [f"{pages} written to {relpath(feedback.page('<student>'), classroom.root)}"] if written else []
    lines += [f"{student}: the page could not be written: {reason}" for student, reason in sorted(failed.items())]
    return lines, not failed
