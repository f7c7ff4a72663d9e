"""Execute runs in a process of their own, which may hang, crash or be spoilt without harm."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from typing import IO

from .executing import Ran, Run, execute, prepare_process
from .outcomes import Value
from .subject import Unaskable

SECONDS = 6.0 if sys.platform == "linux" else 60.0
"""Seconds of processor time for all questions about one answer. Where children are not forked, the clock counts.

The heaviest answer takes 2 on an idle machine, and 4 on a crowded one, whose processors are slower."""

WALL = 5 if sys.platform == "linux" else 1
"""Seconds on the clock for each of those. A crowded machine needs them, and code that sleeps is ended after them."""

LOOK = 0.05
"""Seconds between two looks at a child that is silent."""

LONGEST = 2**22
"""Bytes of one result. A process that writes more is ended."""

HUNG = Ran(Value("endless"))


class Apart:
    """A runner that executes runs in child processes, for `seconds` of processor time altogether.

    A child is forked on Linux. Elsewhere a fork is not safe beside torch, so a fresh process takes some seconds.
    A child that computes for `silence` seconds without a result, by default a sixth of them, is ended.
    """

    def __init__(self, seconds: float = SECONDS, silence: float | None = None) -> None:
        self._left, self._silence = seconds, silence or seconds / 6
        self._until = time.monotonic() + WALL * seconds

    def __call__(self, runs: list[Run]) -> list[Ran]:
        """Return what the runs give. One that hangs is `endless`, and so are the others of its source.

        Raises:
            Unaskable: the time is up.
        """
        begin = self._forked if sys.platform == "linux" else self._fresh
        results: list[Ran | None] = [None] * len(runs)
        hanging = set[str]()
        while left := [k for k, ran in enumerate(results) if ran is None and runs[k].source not in hanging]:
            done = 0
            for done, ran in enumerate(begin([runs[k] for k in left]), 1):
                results[left[done - 1]] = ran
            if self._left <= 0 or time.monotonic() > self._until:
                raise Unaskable("it takes longer than a question can wait")
            if done < len(left):
                hanging.add(runs[left[done]].source)
        return [ran or HUNG for ran in results]

    def _forked(self, runs: list[Run]) -> Iterator[Ran]:
        reading, writing = os.pipe()
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # a kernel has threads
            child = os.fork()
        if not child:
            try:
                os.close(reading)
                _answer(runs, os.fdopen(writing, "wb", buffering=0))
            finally:
                os._exit(0)
        os.close(writing)
        try:
            with os.fdopen(reading, "rb", buffering=0) as pipe:
                yield from map(_read, self._lines(pipe, child))
        finally:
            os.kill(child, signal.SIGKILL)
            used = os.wait4(child, 0)[2]
            self._left -= used.ru_utime + used.ru_stime

    def _lines(self, pipe: IO[bytes], child: int) -> Iterator[bytes]:
        """Yield the lines that a child writes, until it is done, is silent for too long, or the time is up."""
        clock = ~child << 3 | 2  # of its processor time, as Linux's `clock_getcpuclockid` numbers it
        rest, heard, heard_at = b"", 0.0, time.monotonic()
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                is_heard = bool(selector.select(LOOK))
                used, now = time.clock_gettime(clock), time.monotonic()
                if is_heard:
                    heard, heard_at = used, now
                    if not (got := os.read(pipe.fileno(), 1 << 16)):
                        return
                    *lines, rest = (rest + got).split(b"\n")
                    yield from lines
                is_silent = used - heard > self._silence or now - heard_at > WALL * self._silence
                if is_silent or used > self._left or now > self._until or len(rest) > LONGEST:
                    return

    def _fresh(self, runs: list[Run]) -> Iterator[Ran]:
        command, asked = [sys.executable, "-m", __name__], json.dumps([vars(run) for run in runs]).encode()
        seconds = max(0.1, self._until - time.monotonic())
        try:
            ran = subprocess.run(command, input=asked, stdout=subprocess.PIPE, timeout=seconds, check=False)
            said = ran.stdout
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
        yield from map(_read, said.split(b"\n")[:-1])


def _read(line: bytes) -> Ran:
    return Ran.from_plain(json.loads(line))


def _answer(runs: list[Run], pipe: IO[bytes]) -> None:
    """Execute runs and write a line for each, in a process that ends after this."""
    prepare_process()
    for run in runs:
        pipe.write(json.dumps(execute(run).to_plain()).encode() + b"\n")


if __name__ == "__main__":
    _answer([Run(**run) for run in json.load(sys.stdin)], os.fdopen(os.dup(1), "wb", buffering=0))
    os._exit(0)
