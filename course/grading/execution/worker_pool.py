"""Execute many tasks in parallel, on this machine's cores or on a Dask cluster, with the same code for both.

A worker gets a task as bytes and returns an outcome as bytes. After a worker's death or a fault of the machine the task
is tried again, so neither costs a grade.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from importlib import import_module
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any, Protocol

from course.grading.execution.task import Outcome, Task
from course.grading.intake.untrusted import remove
from course.grading.machine.faults import SHORT, Fault, advice_for
from course.grading.machine.resources import cores_at_hand, memory_at_hand
from course.grading.machine.shutdown import delay_signals, do_nothing, ignore_signals
from course.problem import Problem

FORKS = sys.platform == "linux"
"""Whether workers and kernels are forked, as on Linux; on other systems each is a new process."""

PRELOAD = "course.grading.execution.worker_preload"
"""The module that imports what workers need, in the fork server or else in each worker."""

log = logging.getLogger(__name__)

EXPECTED = "expected"
"""The folder, in a worker pool's own folder, in which workers share the expected answers."""

ATTEMPTS = 3
"""How many times a task is tried if the grading machine fails."""


PAUSES = (0.1, 1.0, 5.0)
"""Seconds before each retry of starting workers, because a fork server that was killed takes a while to end."""

MEMORY_PER_WORKER = 2**30
"""Bytes of memory reserved for each worker: the peak of the course's largest solved notebook."""


def most_workers() -> int:
    """Return the default number of workers: one for each core, or fewer if memory is short."""
    cores, memory = cores_at_hand(), memory_at_hand()
    return max(1, min(cores, int(memory / MEMORY_PER_WORKER))) if memory else cores


class WorkerPool(Protocol):
    """A worker pool: local processes or a Dask cluster."""

    @property
    def size(self) -> int:
        """Return how many tasks the pool executes at a time."""

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a worker execute a task."""

    def renew(self) -> None:
        """Replace the workers after some have died."""


def execute_all(jobs: Iterable[tuple[str, Task]], pool: WorkerPool) -> Iterator[tuple[str, Task, bytes]]:
    """Yield jobs with their outcomes as the pool finishes them, with at most two jobs for each worker submitted.

    A job that failed `ATTEMPTS` times has an outcome that says why. When a worker dies, it is unknown which job killed
    it. So all running jobs are tried again one at a time, and only a job that kills a worker alone counts as failed.
    """
    work = _Work(jobs, pool)
    while work.begin():
        yield from work.collect()


class _Work:
    """The jobs of a worker pool: running, waiting for a retry, and suspected of killing workers."""

    def __init__(self, jobs: Iterable[tuple[str, Task]], pool: WorkerPool) -> None:
        self.pool, self.waiting = pool, iter(jobs)
        self.running: dict[Future[bytes], tuple[str, Task]] = {}
        self.again: list[tuple[str, Task]] = []
        self.suspects: deque[tuple[str, Task]] = deque()
        self.alone = False
        self.tries: Counter[str] = Counter()

    def begin(self) -> bool:
        """Submit what may run now, and return whether anything runs. A suspect runs alone, after all running jobs."""
        self.alone = bool(self.suspects) and not self.running
        if self.alone:
            self._submit(self.suspects.popleft())
        elif not self.suspects:
            while len(self.running) < 2 * self.pool.size and (job := self._next()):
                self._submit(job)
        return bool(self.running)

    def collect(self) -> Iterator[tuple[str, Task, bytes]]:
        """Wait until some jobs are done, and yield those that need no retry."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        own = self.alone or (len(self.running) == 1 and not self.suspects)
        for future in done:
            job = self.running.pop(future)
            outcome, broken = _result(future, job[1])
            if broken:
                self.pool.renew()
            if broken and not own:
                self.suspects.append(job)
            elif self._is_settled(job[0], outcome):
                yield (*job, outcome)
            else:
                (self.suspects if broken else self.again).append(job)

    def _submit(self, job: tuple[str, Task]) -> None:
        self.running[self.pool.submit(job[1].to_bytes())] = job

    def _next(self) -> tuple[str, Task] | None:
        return self.again.pop() if self.again else next(self.waiting, None)

    def _is_settled(self, name: str, outcome: bytes) -> bool:
        """Count an attempt of a job, and return whether it was the last."""
        self.tries[name] += 1
        came = Outcome.from_bytes(outcome)
        if came.final or self.tries[name] >= ATTEMPTS:
            return True
        log.debug("%s: tried again, as %s", name, came.fault or "the judge failed")
        return False


def _result(future: Future[bytes], task: Task) -> tuple[bytes, bool]:
    """Return the outcome of a submitted task, and whether a worker died."""
    try:
        return future.result(), False
    except BrokenProcessPool:
        return Outcome(task.notebook, fault="the worker process died").to_bytes(), True
    except Exception as error:  # noqa: BLE001 - Dask's KilledWorker, or any error of a worker
        fault = advice_for(error) or f"{type(error).__name__}: {error}"
        return Outcome(task.notebook, fault=fault).to_bytes(), False


class LocalWorkers:
    """A pool of worker processes on this machine, forked from a fork server, which is a program of its own.

    So workers hold nothing of the grader's memory, and what they need is imported once.

    They share one zygote for kernels with `environment`. They also share a folder with the expected answers and with
    their temporary files.
    """

    def __init__(self, size: int, environment: dict[str, str] | None = None) -> None:
        from course.grading.kernels.zygote_client import zygote_for

        self.size = size
        with delay_signals():  # a zygote not yet registered would not be ended
            self.zygote = zygote_for(environment) if environment and FORKS else None
        self._address = (self.zygote.address, environment) if self.zygote and environment else None
        self._folder = tempfile.mkdtemp(prefix="pool-")  # short, because a socket's path is limited
        try:
            Path(self._folder, EXPECTED).mkdir()
            self.pool = self._start()
        except BaseException:
            remove(Path(self._folder))
            raise

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a worker process execute a task.

        Raises:
            Fault: no worker process can be started.
        """
        if self.zygote:
            self.zygote.mend()
        for seconds in (*PAUSES, None):
            try:
                with delay_signals():  # a signal now would leave a process that nothing ends
                    if FORKS:
                        begin_server()
                    future = self.pool.submit(execute_task, task)
            except (BrokenProcessPool, EOFError, ConnectionError):  # the fork server may have ended
                if seconds is not None:
                    time.sleep(seconds)
                    self._begin_anew()
            else:
                return future
        raise Fault("worker processes end as soon as they start, perhaps because memory is short. Use fewer --workers")

    def renew(self) -> None:
        """Restart all processes if one has died and they were not restarted since."""
        if getattr(self.pool, "_broken", False):
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Replace the pool by a new one. Tasks submitted to the old one finish or fail there."""
        self.pool.shutdown(wait=False)
        self.pool = self._start()

    def close(self, at_once: bool = False) -> None:
        """End the processes, when their tasks are done or `at_once`, then the zygote, and remove the folder."""
        if at_once:
            for process in multiprocessing.active_children():
                process.kill()
        self.pool.shutdown(wait=True, cancel_futures=True)
        if self.zygote:
            self.zygote.close()
        remove(Path(self._folder))

    def _start(self) -> ProcessPoolExecutor:
        begin = dict(os.environ), self._address, self._folder
        try:
            return ProcessPoolExecutor(self.size, mp_context=_context(), initializer=_begin, initargs=begin)
        except OSError as error:
            if error.errno in SHORT:
                raise
            needs = "They need /dev/shm, a file system in memory that can be written"
            raise Problem(f"worker processes cannot be started ({error.strerror or error}). {needs}") from error


def begin_early(environment: dict[str, str]) -> None:
    """Start the fork server and the zygote for such an environment in the background, before the pool is made.

    A pool whose kernels have another environment starts another zygote.
    """
    from course.grading.kernels.zygote_client import zygote_for

    if FORKS:
        _context()
        with delay_signals():
            zygote_for(environment)
            begin_server()


def begin_server() -> None:
    """Start the fork server for workers, unless it runs.

    A terminal sends Ctrl-C to every process, and a server that is importing would end with a traceback. So it starts
    with SIGINT blocked, and its workers unblock it (`_begin`). This process receives a Ctrl-C afterwards.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # otherwise the next call starts it, which unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> Any:
    """Return the multiprocessing context: a fork server that imports `PRELOAD`, or "spawn" if `FORKS` is False."""
    context: Any = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    if FORKS:
        context.set_forkserver_preload([PRELOAD])
    return context


ANSWERS_WITHIN = 10.0
"""Timeout in seconds for the answer of a Dask scheduler."""

REACHED_WITHIN = 2.0
"""Timeout in seconds for a connection to a Dask worker."""

KEPT_MESSAGES = 8
"""Messages to each worker that Dask logs; its default, a thousand, would hold that many submissions in memory."""

KNOWN_FOR = 1.0
"""Seconds for which the size of a cluster is cached."""


class DaskWorkers:
    """A pool of the workers of a Dask cluster, by the address of its scheduler.

    The scheduler passes tasks on. Results come directly from the workers if this machine can connect to them.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
        except ImportError as error:
            raise Problem('a scheduler needs Dask. Run pip install "sequence-course[cluster]"') from error
        try:
            _keep_few_messages()
            get_address_host_port(address)  # a client hangs on an address without a port
            self._client = Client(address, timeout=ANSWERS_WITHIN, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise Problem(f"no Dask scheduler answers at {address}: {error}") from error
        with suppress(Exception):  # a scheduler without the course keeps its setting
            self._client.run_on_scheduler(_keep_few_messages)
        self._client.direct_to_workers = self._reaches_workers()
        self._executor: Executor = self._client.get_executor(pure=False, retries=ATTEMPTS)
        self._size, self._asked = 0, -KNOWN_FOR

    @property
    def size(self) -> int:
        """Return how many tasks the cluster executes at a time; at least one, because workers may still be starting."""
        if time.monotonic() - self._asked >= KNOWN_FOR:
            self._size, self._asked = sum(self._client.nthreads().values()), time.monotonic()
        return max(1, self._size)

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a worker of the cluster execute a task."""
        return self._executor.submit(execute_task, task)

    def renew(self) -> None:
        """Do nothing, because Dask restarts its own workers."""

    def _reaches_workers(self) -> bool:
        """Whether this process can connect to a worker of the cluster; False if none has started yet."""
        from distributed.comm.core import connect

        async def reach(address: str) -> None:
            await (await connect(address, timeout=REACHED_WITHIN, **self._client.connection_args)).close()

        address = next(iter(self._client.nthreads()), None)
        if address is None:
            return False
        try:
            self._client.sync(reach, address)
        except (OSError, TimeoutError):
            return False
        return True

    def close(self, at_once: bool = False) -> None:
        """Disconnect from the cluster, when its tasks are done or `at_once`."""
        self._executor.shutdown(wait=not at_once)
        self._client.close()


def _keep_few_messages(dask_scheduler: Any = None) -> None:
    """Limit the log of messages that Dask keeps in this process and, in a scheduler, for each open connection."""
    import dask

    dask.config.set({"distributed.admin.low-level-log-length": KEPT_MESSAGES})
    for connection in dask_scheduler.stream_comms.values() if dask_scheduler else ():
        connection.recent_message_log = deque(connection.recent_message_log, KEPT_MESSAGES)


@contextmanager
def open_pool(
    workers: int, scheduler: str | None = None, environment: Callable[[], dict[str, str]] | None = None
) -> Iterator[LocalWorkers | DaskWorkers]:
    """Make a worker pool for the `with` block. An exception in the block ends the running tasks at once.

    Args:
        workers: the number of processes on this machine.
        scheduler: the address of a Dask scheduler, to be used instead.
        environment: returns the variables that the kernels of a local pool share.
    """
    made = DaskWorkers(scheduler) if scheduler else LocalWorkers(workers, environment() if environment else None)
    try:
        yield made
        made.close()
    except BaseException:
        with ignore_signals():
            made.close(at_once=True)
        raise


def execute_task(task: bytes) -> bytes:
    """Execute a task in a worker, on one thread, and return its outcome."""
    import torch

    from course.grading.execution.execute import execute

    torch.set_num_threads(1)
    return execute(task)


def _begin(variables: dict[str, str], zygote: tuple[str, dict[str, str]] | None, folder: str) -> None:
    """Set up a worker: the grader's environment and signals, an end with the grader, imports, the shared zygote."""
    os.environ.clear()
    os.environ.update(variables)
    signal.signal(signal.SIGINT, do_nothing)  # sent by a terminal to all; the grader ends its workers
    if FORKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end_with_parent(Path(folder))
    tempfile.tempdir = folder
    if zygote is not None:
        from course.grading.kernels.zygote_client import ZygoteClient, share

        share(ZygoteClient(*zygote))
    import_module(PRELOAD)
    import_module("course.judge.expected").share(Path(folder, EXPECTED))


def end_with_parent(folder: Path | None = None) -> None:
    """End this process when the grader that started it has ended, also by a kill, and remove `folder` before."""
    parent: Any = multiprocessing.parent_process()

    def end() -> None:
        wait_for([parent.sentinel])
        if folder is not None:
            remove(folder)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
