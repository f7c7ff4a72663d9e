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

SECONDS = 3.0 if sys.platform == "linux" else 60.0
"""Seconds for all questions about one answer."""

LONGEST = 2**22
"""Bytes of one result. A process that writes more is ended."""

HUNG = Ran(Value("endless"))


class Apart:
    """A runner that executes runs in child processes, for `seconds` altogether.

    A child is forked on Linux. Elsewhere a fork is not safe beside torch, so a fresh process takes some seconds.
    A process that gives no result for `silence` seconds, by default a third of them, is ended.
    """

    def __init__(self, seconds: float = SECONDS, silence: float | None = None) -> None:
        self._until, self._silence = time.monotonic() + seconds, silence or seconds / 3

    def __call__(self, runs: list[Run]) -> list[Ran]:
        """Return what the runs give. One that hangs is `endless`, and so are the others of its source.

        Raises:
            Unaskable: the time is up.
        """
        begin = _forked if sys.platform == "linux" else _fresh
        results: list[Ran | None] = [None] * len(runs)
        hanging = set[str]()
        while left := [k for k, ran in enumerate(results) if ran is None and runs[k].source not in hanging]:
            done = 0
            for done, ran in enumerate(begin([runs[k] for k in left], self._until, self._silence), 1):
                results[left[done - 1]] = ran
            if time.monotonic() > self._until:
                raise Unaskable("it takes longer than a question can wait")
            if done < len(left):
                hanging.add(runs[left[done]].source)
        return [ran or HUNG for ran in results]


def _forked(runs: list[Run], until: float, silence: float) -> Iterator[Ran]:
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
            yield from map(_read, _lines(pipe, until, silence))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _lines(pipe: IO[bytes], until: float, silence: float) -> Iterator[bytes]:
    """Yield the lines that a child writes, until it is done, is silent for too long, or the time is up."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0.0, min(silence, until - time.monotonic()))):
            if not (got := os.read(pipe.fileno(), 1 << 16)):
                return
            *lines, rest = (rest + got).split(b"\n")
            yield from lines
            if len(rest) > LONGEST:
                return


def _fresh(runs: list[Run], until: float, _silence: float) -> Iterator[Ran]:
    command, asked = [sys.executable, "-m", __name__], json.dumps([vars(run) for run in runs]).encode()
    try:
        said = subprocess.run(
            command, input=asked, stdout=subprocess.PIPE, timeout=max(0.1, until - time.monotonic()), check=False
        ).stdout
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
