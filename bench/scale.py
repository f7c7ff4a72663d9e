"""A class on a cluster of 1 to 64 workers: where the curve bends, and what a submission costs scheduler and client.

Scheduler, workers and client are real processes and real Dask. Only the executing of a notebook is replaced: a worker
waits the seconds that a real execution of the same kind took, and a network's latency, and returns the result that was
recorded then. So 64 workers can be measured on two cores, most of them asleep, and beside other programs, for whose
time the clock stands still. Settings, from the environment:
BENCH_WORKERS ("1 4"), BENCH_EACH (submissions for each worker, 20), BENCH_MOST (submissions at most, 200),
BENCH_SECONDS (the mean that recorded seconds are scaled to, or as they are), BENCH_LATENCY (seconds, 0.05), and
BENCH_CSV, a file for the numbers, to which a line is added as each is measured.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psutil

from bench._cluster import Cluster
from bench._fair_clock import FairClock
from bench._recorded import make_mixed_class, record
from bench._replay import CLOCK
from course.course import Course
from course.syllabus import Topic

WORKERS = [int(count) for count in os.environ.get("BENCH_WORKERS", "1 4").split()]
EACH = int(os.environ.get("BENCH_EACH", "20"))
MOST = int(os.environ.get("BENCH_MOST", "200"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "0"))
LATENCY = float(os.environ.get("BENCH_LATENCY", "0.05"))
CSV = os.environ.get("BENCH_CSV", "")
REPOSITORY = Path(__file__).parents[1]
MEGABYTE = 2**20


@dataclass(frozen=True)
class Measured:
    """One class on so many workers.

    `execution` is the mean seconds that a worker took for a submission, latency included. `seconds` are those of a
    clock that stands still while scheduler or client wait for a processor, and `wall` those of an ordinary one.
    `*_ms` are milliseconds of processor time a submission: of the scheduler, of the client, and of the client's thread
    that saves. `kilobytes` went through the scheduler's sockets for each submission, in and out. `*_early` and
    `*_late` are the medians of memory in the first and the last third of the time, and `*_peak` the most, in
    megabytes.
    """

    workers: int
    submissions: int
    graded: int
    execution: float
    seconds: float
    wall: float
    scheduler_ms: float
    client_ms: float
    saving_ms: float
    kilobytes: float
    scheduler_early: float
    scheduler_late: float
    scheduler_peak: float
    client_early: float
    client_late: float
    client_peak: float

    @property
    def per_minute(self) -> float:
        """Submissions a minute."""
        return 60 * self.graded / self.seconds


def rows() -> Iterator[list[str]]:
    """A row for each number of workers."""
    yield [
        "workers",
        "submissions",
        "a minute",
        "scheduler ms",
        "client ms",
        "saving ms",
        "kB",
        "MB sched.",
        "MB client",
    ]
    topic = Course().find_topic("self_attention")
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        recorded = record(Path(folder, "recorded"), topic)
        for workers in WORKERS:
            yield _row(measure(Path(folder), topic, workers, recorded, SECONDS or recorded))


def measure(folder: Path, topic: Topic, workers: int, recorded: float, seconds: float) -> Measured:
    """Grade a class on so many workers, with results in `folder` whose mean of seconds is scaled as said."""
    size = min(MOST, EACH * workers)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        root = make_mixed_class(Path(place, "class"), topic, size)
        with Cluster(workers, folder / "recorded", seconds / recorded, LATENCY) as cluster:
            before = cluster.usage()
            clock = folder / "recorded" / CLOCK
            about = [str(root), topic.folder, cluster.address, str(clock)]
            command = [sys.executable, "-m", "bench._watched_grading", *about]
            variables = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
            client = subprocess.Popen(command, cwd=root, env=variables, stdout=subprocess.PIPE, text=True)
            scheduler_memory, client_memory = _Memory(cluster.pid), _Memory(client.pid)
            with FairClock(clock).ticking((client.pid, cluster.pid)):
                said, _ = client.communicate()
            took = json.loads(said)
            after = cluster.usage()
    measured = Measured(
        workers=workers,
        submissions=size,
        graded=took["graded"],
        execution=seconds + LATENCY,
        seconds=took["seconds"],
        wall=took["wall"],
        scheduler_ms=1000 * (after.cpu - before.cpu) / size,
        client_ms=1000 * took["cpu"] / size,
        saving_ms=1000 * took["saving"] / size,
        kilobytes=(after.through - before.through) / 1000 / size,
        scheduler_early=scheduler_memory.early,
        scheduler_late=scheduler_memory.late,
        scheduler_peak=after.peak / MEGABYTE,
        client_early=client_memory.early,
        client_late=client_memory.late,
        client_peak=took["peak"] / MEGABYTE,
    )
    if CSV:
        _write(Path(CSV), measured)
    return measured


class _Memory:
    """The memory of a process in megabytes, looked at until the process ends or `early` is asked for."""

    def __init__(self, pid: int) -> None:
        self._samples: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(psutil.Process(pid),), daemon=True)
        self._thread.start()

    def _watch(self, process: psutil.Process) -> None:
        while not self._over.wait(0.2):
            try:
                self._samples.append(process.memory_info().rss / MEGABYTE)
            except psutil.NoSuchProcess:
                return

    @property
    def early(self) -> float:
        """The median of the first third."""
        self._over.set()
        return median(self._samples[: max(1, len(self._samples) // 3)])

    @property
    def late(self) -> float:
        """The median of the last third."""
        self._over.set()
        return median(self._samples[-max(1, len(self._samples) // 3) :])


def _write(path: Path, measured: Measured) -> None:
    values = {name: f"{value:.6g}" for name, value in asdict(measured).items()}
    new = not path.is_file()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(values), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(values)


def _row(one: Measured) -> list[str]:
    failed = "" if one.graded == one.submissions else f" ({one.submissions - one.graded} failed)"
    costs = [f"{cost:.1f}" for cost in (one.scheduler_ms, one.client_ms, one.saving_ms)]
    peaks = [f"{one.scheduler_peak:.0f}", f"{one.client_peak:.0f}"]
    named = [str(one.workers), f"{one.submissions:,}{failed}", f"{one.per_minute:.0f}"]
    return [*named, *costs, f"{one.kilobytes:.0f}", *peaks]
