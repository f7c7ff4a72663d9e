"""Executes tasks many at a time, on this machine's cores or on a Dask cluster: one path for both.

A task goes out as bytes and comes back as bytes. A worker that dies, and an execution that failed by a fault of the
machine, cost another attempt and never a grade.
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
from course.grading.problem import Problem

FORKS = sys.platform == "linux"
"""Whether workers and kernels are forked; elsewhere each is begun anew."""

PRELOAD = "course.grading.workers.preload"
"""What workers need: imported once, by the server that they are forked from, or by each worker."""

log = logging.getLogger(__name__)

EXPECTED = "expected"
"""Where, in a crew's folder, the keys to judge with are shared."""

ATTEMPTS = 3
"""How often work is tried when the grading machine fails."""


PAUSES = (0.1, 1.0, 5.0)
"""Seconds until workers are begun anew that could not be begun: a server that was killed takes a while to be gone."""

ROOM = 2**30
"""Bytes of memory a worker is counted with: what the hungriest solved notebook of the course takes."""


def most_workers() -> int:
    """How many workers begin where nobody says: one for each core, or fewer where they would not have `ROOM`."""
    cores, memory = cores_at_hand(), memory_at_hand()
    return max(1, min(cores, int(memory / ROOM))) if memory else cores


class Crew(Protocol):
    """Those who execute."""

    @property
    def size(self) -> int:
        """How many tasks they execute at a time."""

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a task executed."""

    def renew(self) -> None:
        """Replace workers after some have died."""


def execute_all(jobs: Iterable[tuple[str, Task]], crew: Crew) -> Iterator[tuple[str, Task, bytes]]:
    """Have the crew execute the jobs, never more than two a worker at a time; yields them as they are done.

    A job that failed `ATTEMPTS` times comes back with an outcome that says why. Where workers die, nobody knows whose
    work it was: all that was under way is tried again one at a time, and only who fails alone has failed.
    """
    work = _Work(jobs, crew)
    while work.begin():
        yield from work.collect()


class _Work:
    """The jobs of a crew: those that run, those to be tried again, and those suspected of killing workers."""

    def __init__(self, jobs: Iterable[tuple[str, Task]], crew: Crew) -> None:
        self.crew, self.waiting = crew, iter(jobs)
        self.running: dict[Future[bytes], tuple[str, Task]] = {}
        self.again: list[tuple[str, Task]] = []
        self.suspects: deque[tuple[str, Task]] = deque()
        self.alone = False
        self.tries: Counter[str] = Counter()

    def begin(self) -> bool:
        """Submit what may run just now: a suspect, alone, once all the others are done. Says whether anything runs."""
        self.alone = bool(self.suspects) and not self.running
        if self.alone:
            self._submit(self.suspects.popleft())
        elif not self.suspects:
            while len(self.running) < 2 * self.crew.size and (job := self._next()):
                self._submit(job)
        return bool(self.running)

    def collect(self) -> Iterator[tuple[str, Task, bytes]]:
        """Wait until some are done; yields those that need no other attempt."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        own = self.alone or (len(self.running) == 1 and not self.suspects)
        for future in done:
            job = self.running.pop(future)
            outcome, broken = _result(future, job[1])
            if broken:
                self.crew.renew()
            if broken and not own:
                self.suspects.append(job)
            elif self._is_settled(job[0], outcome):
                yield (*job, outcome)
            else:
                (self.suspects if broken else self.again).append(job)

    def _submit(self, job: tuple[str, Task]) -> None:
        self.running[self.crew.submit(job[1].to_bytes())] = job

    def _next(self) -> tuple[str, Task] | None:
        return self.again.pop() if self.again else next(self.waiting, None)

    def _is_settled(self, name: str, outcome: bytes) -> bool:
        """Whether an attempt of its own was a job's last."""
        self.tries[name] += 1
        came = Outcome.from_bytes(outcome)
        if came.final or self.tries[name] >= ATTEMPTS:
            return True
        log.debug("%s: tried again, as %s", name, came.fault or "the judge failed")
        return False


def _result(future: Future[bytes], task: Task) -> tuple[bytes, bool]:
    """What came back, and whether workers were lost on the way."""
    try:
        return future.result(), False
    except BrokenProcessPool:
        return Outcome(task.notebook, fault="the worker process died").to_bytes(), True
    except Exception as error:  # noqa: BLE001 - Dask's KilledWorker among them, and whatever a worker could not do
        fault = advice_for(error) or f"{type(error).__name__}: {error}"
        return Outcome(task.notebook, fault=fault).to_bytes(), False


class LocalCrew:
    """Worker processes on this machine, forked from a server that is a program of its own.

    So nothing of the grader's memory is in them, and what they need is imported once.

    They share one zygote for kernels with `environment`. They also share a folder, which holds what is expected of
    answers and whatever they need for a while.
    """

    def __init__(self, size: int, environment: dict[str, str] | None = None) -> None:
        from course.grading.kernels.zygote_client import zygote_for

        self.size = size
        with delay_signals():  # a zygote that is not known yet would not be ended
            self.zygote = zygote_for(environment) if environment and FORKS else None
        self._address = (self.zygote.address, environment) if self.zygote and environment else None
        self._folder = tempfile.mkdtemp(prefix="crew-")  # short: sockets lie in it
        try:
            Path(self._folder, EXPECTED).mkdir()
            self.pool = self._start()
        except BaseException:
            remove(Path(self._folder))
            raise

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a task executed by one of the processes.

        Raises:
            Fault: none can be begun.
        """
        if self.zygote:
            self.zygote.mend()
        for seconds in (*PAUSES, None):
            try:
                with delay_signals():  # a process that is begun halfway is nobody's to end
                    if FORKS:
                        begin_server()
                    future = self.pool.submit(execute_task, task)
            except (BrokenProcessPool, EOFError, ConnectionError):  # the server they are forked from may have ended
                if seconds is not None:
                    time.sleep(seconds)
                    self._begin_anew()
            else:
                return future
        raise Fault("worker processes end as soon as they start, perhaps because memory is short. Use fewer --workers")

    def renew(self) -> None:
        """Start all processes anew, unless that happened since they broke."""
        if getattr(self.pool, "_broken", False):
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Other processes from here on; what the former had to do is for them to do, or to fail at."""
        self.pool.shutdown(wait=False)
        self.pool = self._start()

    def close(self, at_once: bool = False) -> None:
        """End the processes, when they are done or `at_once`."""
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
    """Begin the server of a crew to come, and the zygote of kernels with such an environment, while this process reads.

    A crew whose kernels have another environment begins another zygote.
    """
    from course.grading.kernels.zygote_client import zygote_for

    if FORKS:
        _context()
        with delay_signals():
            zygote_for(environment)
            begin_server()


def begin_server() -> None:
    """Begin the server that workers are forked from, unless it runs.

    A terminal sends Ctrl-C to every process. The server would end with a traceback while it imports. So it begins with
    SIGINT blocked, and its workers unblock it (`_begin`). This process hears Ctrl-C just afterwards.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # else the next call begins it, and that unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _context() -> Any:
    """Return how worker processes begin: where processes can be forked, from a server that has imported `PRELOAD`."""
    context: Any = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    if FORKS:
        context.set_forkserver_preload([PRELOAD])
    return context


ANSWERS_WITHIN = 10.0
"""Seconds that a Dask scheduler may take to answer."""

REACHED_WITHIN = 2.0
"""Seconds that a connection to a Dask worker may take."""

KEPT_MESSAGES = 8
"""Messages to each worker of which Dask keeps copies, for its developers: a thousand by default, with submissions."""

KNOWN_FOR = 1.0
"""Seconds for which the size of a cluster is not asked for again."""


class DaskCrew:
    """The workers of a Dask cluster, by the address of its scheduler.

    The scheduler passes tasks on. Results come from the workers directly, unless they cannot be reached from here.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
        except ImportError as error:
            raise Problem('a scheduler needs Dask. Run pip install "sequence-course[cluster]"') from error
        try:
            _keep_few_messages()
            get_address_host_port(address)  # a client of an address without a port does not come to an end
            self._client = Client(address, timeout=ANSWERS_WITHIN, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise Problem(f"no Dask scheduler answers at {address}: {error}") from error
        with suppress(Exception):  # a scheduler that cannot import the course goes on as it is
            self._client.run_on_scheduler(_keep_few_messages)
        self._client.direct_to_workers = self._reaches_workers()
        self._executor: Executor = self._client.get_executor(pure=False, retries=ATTEMPTS)
        self._size, self._asked = 0, -KNOWN_FOR

    @property
    def size(self) -> int:
        """How many tasks the cluster executes at a time just now; at least one, as workers may still be coming."""
        if time.monotonic() - self._asked >= KNOWN_FOR:
            self._size, self._asked = sum(self._client.nthreads().values()), time.monotonic()
        return max(1, self._size)

    def submit(self, task: bytes) -> Future[bytes]:
        """Have a task executed somewhere on the cluster."""
        return self._executor.submit(execute_task, task)

    def renew(self) -> None:
        """Dask brings its own workers back."""

    def _reaches_workers(self) -> bool:
        """Whether a worker of the cluster can be connected to from here; not so where none has come yet."""
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
        """Leave the cluster to others."""
        self._executor.shutdown(wait=not at_once)
        self._client.close()


def _keep_few_messages(dask_scheduler: Any = None) -> None:
    """Have this process, and all connections of the scheduler that runs in it, keep few messages from here on."""
    import dask

    dask.config.set({"distributed.admin.low-level-log-length": KEPT_MESSAGES})
    for connection in dask_scheduler.stream_comms.values() if dask_scheduler else ():
        connection.recent_message_log = deque(connection.recent_message_log, KEPT_MESSAGES)


@contextmanager
def crew(
    workers: int, scheduler: str | None = None, environment: Callable[[], dict[str, str]] | None = None
) -> Iterator[LocalCrew | DaskCrew]:
    """A crew for as long as the `with` block; whatever ends it early ends the work at once.

    Args:
        workers: processes on this machine.
        scheduler: the address of a Dask scheduler, to be used instead.
        environment: what the kernels of a local crew have in common.
    """
    made = DaskCrew(scheduler) if scheduler else LocalCrew(workers, environment() if environment else None)
    try:
        yield made
        made.close()
    except BaseException:
        with ignore_signals():
            made.close(at_once=True)
        raise


def execute_task(task: bytes) -> bytes:
    """What a worker does with a task: execute it on one thread and return its outcome."""
    import torch

    from course.grading.execution.execute import execute

    torch.set_num_threads(1)
    return execute(task)


def _begin(variables: dict[str, str], zygote: tuple[str, dict[str, str]] | None, folder: str) -> None:
    """What a worker process does first: the grader's environment, an end with it, its hands, what is shared."""
    os.environ.clear()
    os.environ.update(variables)
    signal.signal(signal.SIGINT, do_nothing)  # a terminal sends it to everybody: the grader says when it is over
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
    """End this process as soon as the grader that began it has ended, perhaps by a kill, and remove `folder` before."""
    parent: Any = multiprocessing.parent_process()

    def end() -> None:
        wait_for([parent.sentinel])
        if folder is not None:
            remove(folder)
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
