"""Write feedback pages in parallel processes, each with its own converter."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from course.grading.intake.untrusted import remove
from course.grading.machine.shutdown import ENDING, delay_signals, do_nothing, ignore_signals
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.page_writer import PageWriter, for_feedback
from course.grading.workers.worker_pool import FORKS, end_with_parent

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
