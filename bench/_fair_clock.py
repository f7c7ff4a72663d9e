"""A clock that stands still while a measured process waits for a processor that other programs use.

What is measured by it comes out as on a machine with processors of their own for these processes. Linux says how long
a thread could run and did not. Elsewhere this is an ordinary clock.
"""

from __future__ import annotations

import mmap
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

TICK = 0.02
"""Seconds between two looks at the processes."""


class FairClock:
    """The clock that is kept in the file `path`: one process ticks it and others read it."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            path.write_bytes(struct.pack("d", 0.0))
        with path.open("r+b") as file:
            self._kept = mmap.mmap(file.fileno(), 8)

    def now(self) -> float:
        """Seconds since the clock began."""
        seconds: float = struct.unpack("d", self._kept[:8])[0]
        return seconds

    def sleep_until(self, moment: float) -> None:
        """Sleep until the clock says `moment`."""
        while (left := moment - self.now()) > 0:
            time.sleep(max(left, 2 * TICK))

    @contextmanager
    def ticking(self, pids: Sequence[int]) -> Iterator[None]:
        """Let the clock go on within the block, except while a thread of these processes waits for a processor."""
        over = threading.Event()
        thread = threading.Thread(target=self._tick, args=(pids, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _tick(self, pids: Sequence[int], over: threading.Event) -> None:
        moment, waited = time.monotonic(), _waited(pids)
        while not over.wait(TICK):
            now, so_far = time.monotonic(), _waited(pids)
            stood = max((so_far[thread] - waited.get(thread, 0.0) for thread in so_far), default=0.0)
            self._kept[:8] = struct.pack("d", self.now() + max(0.0, now - moment - stood))
            moment, waited = now, so_far


def _waited(pids: Sequence[int]) -> dict[Path, float]:
    """Seconds that each thread of the processes has waited for a processor since it began."""
    waited = {}
    for pid in pids:
        for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # the thread has ended
                waited[path] = int(path.read_text().split()[1]) / 1e9
    return waited
