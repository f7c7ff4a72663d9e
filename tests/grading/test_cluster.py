"""A real Dask scheduler and real worker processes: the same grades as here, also when a worker is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.execution.task import Outcome
from course.grading.gradebook.scores import read_scores
from course.grading.workers.worker_pool import KEPT_MESSAGES, DaskWorkers

from .lesson import NAME, TOPIC
from .test_resume import SETTINGS, make_class, plain

Client = pytest.importorskip("distributed").Client

ROOT = Path(__file__).parents[2]


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path, workers: int, preload: str = "") -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self.preload = ("--preload", preload) if preload else ()
        self.processes: list[subprocess.Popen] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show", "--no-jupyter")
        deadline = time.monotonic() + 60
        while not self.file.is_file() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.address = json.loads(self.file.read_text())["address"]
        self.workers = [self.hire() for _ in range(workers)]

    def hire(self) -> subprocess.Popen:
        return self._start("worker", "--nthreads", "1", "--no-nanny", "--memory-limit", "0", *self.preload)

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self.file)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with (self.folder / f"{what}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard", *options], cwd=self.folder, env=environment, stdout=log, stderr=log
            )
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path, 2)
    yield cluster
    cluster.close()


class KillsOne:
    """Kills a worker when the first submission is graded."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.killed = cluster, False

    def begin(self, total: int) -> None:
        pass

    def done(self, student: str, outcome: Outcome | None) -> None:
        if not self.killed:
            self.killed = True
            self.cluster.workers[0].send_signal(signal.SIGKILL)


def scores(root: Path, students: list[str]) -> dict[str, object]:
    return {student: read_scores(f"sqlite:///{root / 'gradebook.db'}", NAME, student, NAME) for student in students}


def compare(tmp_path: Path, cluster: Cluster, size: int) -> None:
    """One after the other, side by side, and on the cluster with a worker killed: the same gradebook."""
    root = make_class(tmp_path / "class", size)
    copies = {way: shutil.copytree(root, tmp_path / way) for way in ("serial", "parallel", "dask")}
    serial = grade_class(Classroom(course_in(copies["serial"]), TOPIC, SETTINGS), workers=1)
    parallel = grade_class(Classroom(course_in(copies["parallel"]), TOPIC, SETTINGS), workers=3)
    progress = KillsOne(cluster)
    dask = grade_class(
        Classroom(course_in(copies["dask"]), TOPIC, SETTINGS), scheduler=cluster.address, progress=progress
    )
    assert progress.killed
    assert plain(serial) == plain(parallel) == plain(dask)
    students = [work.student for work in serial]
    assert (
        scores(copies["serial"], students) == scores(copies["parallel"], students) == scores(copies["dask"], students)
    )


ECHO = """
from course.grading.workers import worker_pool
worker_pool.execute_task = bytes.upper
"""


@pytest.mark.parametrize("reached", [True, False])
def test_results_go_past_the_scheduler_where_workers_are_reached(tmp_path, monkeypatch, reached):
    cluster = Cluster(tmp_path, 1, ECHO)
    try:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            if not reached:
                monkeypatch.setattr("distributed.comm.core.connect", _unreachable)
            pool = DaskWorkers(cluster.address)
            assert pool.submit(b"result").result(timeout=60) == b"RESULT"
            pool.close()
            events = [event for _, event in client.get_events("all")]
            assert reached != any(event.get("action") == "gather" for event in events)
            assert not client.run_on_scheduler(_tasks_held)
    finally:
        cluster.close()


def test_a_scheduler_keeps_no_copies_of_what_it_passed_on(tmp_path):
    cluster = Cluster(tmp_path, 1, ECHO)
    try:
        with Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            pool = DaskWorkers(cluster.address)
            cluster.hire()  # and one that comes later
            client.wait_for_workers(2, timeout=60)
            pool.close()
            assert set(client.run_on_scheduler(_most_messages_kept)) == {KEPT_MESSAGES}
    finally:
        cluster.close()


async def _unreachable(address: str, **_: object) -> None:
    raise OSError(address)


def _most_messages_kept(dask_scheduler) -> list[int | None]:
    return [connection.recent_message_log.maxlen for connection in dask_scheduler.stream_comms.values()]


def _tasks_held(dask_scheduler) -> list[str]:
    return [str(key) for key in dask_scheduler.tasks]


def test_serial_parallel_and_cluster_give_the_same_grades(tmp_path, cluster):
    compare(tmp_path, cluster, 10)


@pytest.mark.slow
def test_a_hundred_submissions_three_ways(tmp_path, cluster):
    compare(tmp_path, cluster, 100)
