"""Crews: what the machine does wrong is tried again, and never becomes a grade."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.cells import notebook_bytes
from course.grading.execution.task import Outcome, Task
from course.grading.kernel_edition import assemble
from course.grading.kernels import zygote_client
from course.grading.kernels.environment import environment
from course.grading.machine.faults import Fault
from course.grading.problem import Problem
from course.grading.workers import worker_pool
from course.grading.workers.worker_pool import ATTEMPTS, FORKS, LocalWorkers, execute_all, open_pool
from course.judge.verdict import Verdict

NOTEBOOK = json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).encode()


def task(name: str) -> Task:
    return Task(name, NOTEBOOK)


class Hands:
    """A pool of threads that does what it is told with each attempt at a task."""

    def __init__(self, work: Callable[[str, int], Outcome], size: int = 2) -> None:
        self.size, self.work, self.renewed = size, work, 0
        self.attempts: dict[str, int] = {}
        self.most = self.running = 0
        self.pool = ThreadPoolExecutor(size)

    def submit(self, data: bytes) -> Future[bytes]:
        name = Task.from_bytes(data).name
        self.attempts[name] = self.attempts.get(name, 0) + 1
        self.running += 1
        self.most = max(self.most, self.running)
        return self.pool.submit(self._do, name, self.attempts[name])

    def renew(self) -> None:
        self.renewed += 1

    def _do(self, name: str, attempt: int) -> bytes:
        try:
            return self.work(name, attempt).to_bytes()
        finally:
            self.running -= 1


def done(name: str, attempt: int) -> Outcome:
    return Outcome(name.encode(), (Verdict(name, "passed", 1, 1),))


def test_everybody_is_done_once_and_never_too_many_at_a_time():
    hands = Hands(done)
    names = [f"s{n}" for n in range(30)]
    out = [
        (name, Outcome.from_bytes(data).notebook) for name, _, data in execute_all(((n, task(n)) for n in names), hands)
    ]
    assert sorted(out) == sorted((name, name.encode()) for name in names)
    assert hands.most <= 2 * hands.size


def test_a_fault_of_the_machine_is_tried_again():
    def work(name: str, attempt: int) -> Outcome:
        return done(name, attempt) if name != "s1" or attempt == 3 else Outcome(NOTEBOOK, fault="no kernel")

    hands = Hands(work)
    out = {name: Outcome.from_bytes(data) for name, _, data in execute_all([(n, task(n)) for n in ("s0", "s1")], hands)}
    assert all(outcome.final for outcome in out.values())
    assert hands.attempts == {"s0": 1, "s1": 3}


def test_a_judge_that_failed_is_tried_again_and_then_said_to_have():
    def work(name: str, attempt: int) -> Outcome:
        return Outcome(NOTEBOOK, (Verdict(name, "not-graded", 0, 1, "the judge itself failed"),))

    hands = Hands(work)
    ((_, _, data),) = execute_all([("s0", task("s0"))], hands)
    assert hands.attempts == {"s0": ATTEMPTS}
    assert Outcome.from_bytes(data).verdicts[0].kind == "not-graded"


@pytest.mark.parametrize("error", [BrokenProcessPool("gone"), MemoryError(), OSError("disk")])
def test_a_worker_that_dies_costs_an_attempt_and_not_a_grade(error):
    def work(name: str, attempt: int) -> Outcome:
        if attempt == 1 and name == "s1":
            raise error
        return done(name, attempt)

    hands = Hands(work)
    out = {name: Outcome.from_bytes(data) for name, _, data in execute_all([(n, task(n)) for n in ("s0", "s1")], hands)}
    assert all(outcome.final for outcome in out.values())
    assert hands.renewed == isinstance(error, BrokenProcessPool)


def test_work_that_always_kills_its_worker_comes_back_with_the_reason():
    def work(name: str, attempt: int) -> Outcome:
        raise BrokenProcessPool("gone")

    ((_, _, data),) = execute_all([("s0", task("s0"))], Hands(work))
    assert Outcome.from_bytes(data).fault == "the worker process died"


class Fragile:
    """A pool of which all die whenever `poison` is under way; others are done as soon as they are tried again."""

    size = 2

    def __init__(self) -> None:
        self.attempts: Counter[str] = Counter()
        self.open: list[Future[bytes]] = []

    def submit(self, data: bytes) -> Future[bytes]:
        name, future = Task.from_bytes(data).name, Future()
        self.attempts[name] += 1
        self.open.append(future)
        if name == "poison":
            for dying in self.open:
                dying.set_exception(BrokenProcessPool("gone"))
            self.open = []
        elif self.attempts[name] > 1:
            self.open.remove(future)
            future.set_result(done(name, 1).to_bytes())
        return future

    def renew(self) -> None: ...


def test_nobody_pays_for_a_neighbour_whose_work_kills_workers():
    hands = Fragile()
    jobs = [(name, task(name)) for name in ("s0", "s1", "poison")]
    out = {name: Outcome.from_bytes(data) for name, _, data in execute_all(jobs, hands)}
    assert {name for name, outcome in out.items() if outcome.fault} == {"poison"}
    assert hands.attempts == {"s0": 2, "s1": 2, "poison": 1 + ATTEMPTS}


def test_real_workers_are_replaced_when_they_are_killed():
    opened = LocalWorkers(1)
    try:
        first = opened.submit(task("empty").to_bytes())
        assert Outcome.from_bytes(first.result()).final
        (process,) = opened.pool._processes.values()
        os.kill(process.pid, signal.SIGKILL)
        ((_, _, data),) = execute_all([("again", task("empty"))], opened)
        assert Outcome.from_bytes(data).final
    finally:
        opened.close(at_once=True)


MAKE = "__import__('tempfile').mkdtemp(prefix='course-')"
"""What a worker does for each notebook, and has no time to tidy up where it is killed."""


def test_what_workers_share_goes_with_them(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_pool(1) as opened:
        assert opened.submit(task("empty").to_bytes()).result(timeout=60)
        shared = opened.pool.submit(eval, "__import__('course.judge.expected').judge.expected.shared_folder")
        assert list(tmp_path.glob("pool-*/expected")) == [shared.result(timeout=60)]
        assert Path(opened.pool.submit(eval, MAKE).result(timeout=60)).is_relative_to(tmp_path)
    assert not list(tmp_path.glob("pool-*"))


@pytest.mark.skipif(not FORKS, reason="nothing is forked here")
def test_a_crew_uses_what_was_begun_early(monkeypatch, tmp_path):
    """Even where a library has made the path longer meanwhile."""
    worker_pool.begin_early(environment(tmp_path, assemble("", ()), None, "checkpoint"))
    begun = zygote_client.known_zygotes[-1]
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}/another")
    with open_pool(1, environment=lambda: environment(tmp_path, assemble("", ()), None, "checkpoint")) as opened:
        assert opened.zygote is begun and not begun.gone
    assert begun.gone
    assert not Path(begun.address).parent.exists()


@pytest.mark.skipif(not FORKS, reason="nothing is forked here")
def test_a_zygote_that_died_is_begun_anew_for_the_workers(tmp_path):
    nb = new_notebook(cells=[new_code_cell("1")], metadata={"kernelspec": {"name": "python3", "display_name": ""}})
    one_cell = Task("nb", notebook_bytes(nb), client={"kernel_name": "python3"}).to_bytes()
    with open_pool(1, environment=lambda: environment(tmp_path, assemble("", ()), None, "checkpoint")) as opened:
        assert Outcome.from_bytes(opened.submit(one_cell).result()).why_cold == ""
        assert opened.zygote is not None and opened.zygote.process is not None
        opened.zygote.process.kill()
        opened.zygote.process.wait()
        assert Outcome.from_bytes(opened.submit(one_cell).result()).why_cold == ""


def test_nor_does_a_grader_that_is_interrupted_leave_it_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), open_pool(1) as opened:
        assert Path(opened.pool.submit(eval, MAKE).result(timeout=60)).is_relative_to(tmp_path)
        raise KeyboardInterrupt
    assert not list(tmp_path.glob("pool-*"))


def test_nor_does_a_grader_that_is_killed_leave_it_behind(tmp_path):
    code = (
        "import sys, time\n"
        "from course.grading.workers.worker_pool import open_pool\n"
        "with open_pool(1) as opened:\n"
        "    opened.submit(sys.stdin.buffer.read()).result()\n"
        f"    opened.pool.submit(eval, {MAKE!r}).result()\n"
        "    print('up', flush=True)\n"
        "    time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as grader:
        assert grader.stdin is not None and grader.stdout is not None
        grader.stdin.write(task("empty").to_bytes())
        grader.stdin.close()
        assert grader.stdout.readline() == b"up\n"
        assert list(tmp_path.glob("pool-*/course-*"))
        grader.kill()
    deadline = time.monotonic() + 20
    while (left := list(tmp_path.glob("pool-*"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


@pytest.mark.skipif(not FORKS, reason="workers are forked from a server on Linux only")
def test_a_server_of_workers_that_dies_is_begun_anew():
    """Whoever asks it for a worker just then hears that it hung up."""
    from multiprocessing import forkserver

    with open_pool(2) as opened:
        for _ in range(2):
            server = forkserver._forkserver._forkserver_pid
            os.kill(server, signal.SIGKILL)
            opened.renew()
            names = ("s0", "s1", "s2")
            out = [Outcome.from_bytes(data) for _, _, data in execute_all([(n, task(n)) for n in names], opened)]
            assert [outcome.fault for outcome in out] == ["", "", ""]


@pytest.mark.parametrize("error", [EOFError("unexpected EOF"), ConnectionRefusedError(), BrokenProcessPool("gone")])
def test_workers_that_cannot_be_begun_are_tried_again_and_then_told(monkeypatch, error):
    monkeypatch.setattr(worker_pool, "PAUSES", (0.0, 0.0))
    with open_pool(1) as opened:
        submit, failures = ProcessPoolExecutor.submit, iter([error])

        def failing(*call: Any) -> Future[bytes]:
            for failure in failures:
                raise failure
            return submit(*call)

        monkeypatch.setattr(ProcessPoolExecutor, "submit", failing)
        assert Outcome.from_bytes(opened.submit(task("s0").to_bytes()).result()).fault == ""
        failures = iter([error, error])
        assert Outcome.from_bytes(opened.submit(task("s0").to_bytes()).result()).fault == ""
        failures = iter([error, error, error])
        with pytest.raises(Fault, match="worker processes end as soon as they start"):
            opened.submit(task("s0").to_bytes())


def test_a_crew_that_is_interrupted_goes_home_at_once():
    with pytest.raises(KeyboardInterrupt), open_pool(1) as opened:
        opened.submit(task("empty").to_bytes()).result()
        processes = list(opened.pool._processes.values())
        raise KeyboardInterrupt
    assert not any(process.is_alive() for process in processes)


def test_a_crew_whose_going_home_is_interrupted_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    shutdown = ProcessPoolExecutor.shutdown

    def interrupted(pool: ProcessPoolExecutor, **how: bool) -> None:
        monkeypatch.setattr(ProcessPoolExecutor, "shutdown", shutdown)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_pool(1) as opened:
        opened.submit(task("empty").to_bytes()).result()
        processes = list(opened.pool._processes.values())
        monkeypatch.setattr(ProcessPoolExecutor, "shutdown", interrupted)
    assert not any(process.is_alive() for process in processes) and not list(tmp_path.iterdir())


@pytest.mark.usefixtures("heard")
def test_a_worker_that_is_begun_when_a_signal_comes_is_known_first(monkeypatch):
    """Else it would find what it is handed gone, and say so at length."""
    start = BaseProcess.start

    def signalled(process: BaseProcess) -> None:
        start(process)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(BaseProcess, "start", signalled)
    with pytest.raises(KeyboardInterrupt), open_pool(1) as opened:
        try:
            opened.submit(task("empty").to_bytes())
        finally:
            processes = list(opened.pool._processes.values())
    assert len(processes) == 1 and not processes[0].is_alive()


BEGIN_SERVER = """
import os, signal
from multiprocessing import forkserver, resource_tracker
from course.grading.workers.worker_pool import begin_server

def interrupted():
    resource_tracker.ensure_running()
    print("begun with", *signal.pthread_sigmask(signal.SIG_BLOCK, ()), "blocked")
    os.kill(os.getpid(), signal.SIGINT)

forkserver.ensure_running = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    begin_server()
except KeyboardInterrupt:
    print("heard with", *signal.pthread_sigmask(signal.SIG_BLOCK, ()), "blocked")
"""


@pytest.mark.skipif(not FORKS, reason="workers are forked on Linux only")
def test_ctrl_c_is_heard_though_a_server_is_begun_that_does_not_hear_it():
    """Python's own `ensure_running` begins the resource tracker, which unblocks SIGINT before the server begins."""
    said = subprocess.check_output([sys.executable, "-c", BEGIN_SERVER], text=True).splitlines()
    assert said == [f"begun with {signal.SIGINT!s} blocked", "heard with blocked"]


@pytest.mark.parametrize(("cores", "gigabytes", "workers"), [(4, 16, 4), (4, 3.6, 3), (4, 0.5, 1), (4, 0, 4)])
def test_where_memory_is_short_fewer_workers_begin(monkeypatch, cores, gigabytes, workers):
    monkeypatch.setattr(worker_pool, "cores_at_hand", lambda: cores)
    monkeypatch.setattr(worker_pool, "memory_at_hand", lambda: gigabytes * 2**30)
    assert worker_pool.most_workers() == workers


def test_no_scheduler_is_one_sentence(monkeypatch):
    monkeypatch.setattr(worker_pool, "ANSWERS_WITHIN", 0.5)
    with pytest.raises(Problem, match="no Dask scheduler answers at tcp"):
        worker_pool.DaskWorkers("tcp://127.0.0.1:1")
