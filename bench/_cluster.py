"""A Dask scheduler and workers, each a process of its own, which replay recorded results instead of executing.

As a program (`WORKERS FOLDER SCALE LATENCY`) it forks them all, so that 64 workers share the memory of what is
imported, prints the scheduler's address and process id, and ends them when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import resource
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any

from bench._replay import Replay

REPOSITORY = Path(__file__).parents[1]
passed = {"in": 0, "out": 0}
"""Bytes that this process has read from and written to its connections; counted in the scheduler's alone."""


@dataclass(frozen=True)
class Usage:
    """What a process has used since it began: seconds of processor time, bytes at the peak and through sockets."""

    cpu: float
    peak: int
    through: int


class Cluster:
    """A scheduler at `address` with the process id `pid`, and its workers, for as long as the `with` block."""

    def __init__(self, workers: int, recorded: Path, scale: float = 1.0, latency: float = 0.0) -> None:
        from distributed import Client

        variables = {"DASK_LOGGING__DISTRIBUTED": "error", "DASK_TEMPORARY_DIRECTORY": str(recorded / "dask")}
        self._program = subprocess.Popen(
            [sys.executable, "-m", "bench._cluster", str(workers), str(recorded), str(scale), str(latency)],
            env={**os.environ, **variables, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._program.stdout is not None
        self.address, self.pid = json.loads(self._program.stdout.readline())
        self._client = Client(self.address, set_as_default=False)
        self._client.wait_for_workers(workers, timeout=300)

    def usage(self) -> Usage:
        """What the scheduler has used so far."""
        used: Usage = self._client.run_on_scheduler(usage_here)
        return used

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.close()
        self._program.communicate()


def usage_here() -> Usage:
    """What this process has used."""
    from bench._cluster import passed  # as a program, this module is another one

    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Usage(used.ru_utime + used.ru_stime, peak, sum(passed.values()))


def main(workers: str, folder: str, scale: str, latency: str) -> None:
    """Fork everybody, say where the scheduler is, and wait until standard input is closed."""
    import distributed.shuffle  # noqa: F401  # each would import it by itself

    from bench._cluster import schedule, work

    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    scheduler = context.Process(target=schedule, args=(there,), daemon=True)
    scheduler.start()
    address = here.recv()
    replay = Replay(Path(folder), float(scale), float(latency))
    processes = [context.Process(target=work, args=(address, replay), daemon=True) for _ in range(int(workers))]
    for process in processes:
        process.start()
    print(json.dumps([address, scheduler.pid]), flush=True)
    sys.stdin.read()
    for process in [*processes, scheduler]:
        process.kill()


def schedule(to: Connection) -> None:
    """Be a scheduler that counts bytes, and send its address."""
    from distributed import Scheduler

    _count_bytes()

    async def run() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address=":0") as scheduler:
            to.send(scheduler.address)
            await scheduler.finished()

    asyncio.run(run())


def work(address: str, replay: Replay) -> None:
    """Be a worker of the scheduler at `address`, to which executing a task is to `replay` it."""
    from distributed import Worker

    from course.grading.execution import worker_pool

    worker_pool.execute_task = replay  # Dask finds the function by its name

    async def run() -> None:
        async with Worker(address, nthreads=1, memory_limit=0, dashboard=False, dashboard_address=":0") as worker:
            await worker.finished()

    with suppress(OSError, asyncio.CancelledError):
        asyncio.run(run())


def _count_bytes() -> None:
    """Count what passes the sockets of this process from here on."""
    from tornado.iostream import IOStream

    read, write = IOStream.read_from_fd, IOStream.write_to_fd

    def counted_read(stream: IOStream, buffer: Any) -> int | None:
        size = read(stream, buffer)
        passed["in"] += size or 0
        return size

    def counted_write(stream: IOStream, data: memoryview) -> int:
        size = write(stream, data)
        passed["out"] += size
        return size

    IOStream.read_from_fd, IOStream.write_to_fd = counted_read, counted_write  # type: ignore[method-assign]


if __name__ == "__main__":
    main(*sys.argv[1:])
