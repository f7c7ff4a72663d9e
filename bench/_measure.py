"""Measures a command by what the whole machine does meanwhile, so that no process of its is forgotten.

That takes a machine that does nothing else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil


@dataclass(frozen=True)
class Measured:
    """Wall seconds, processor seconds of the machine, and bytes of memory above those before.

    `memory` is the peak; `early` and `late` are the medians of the first and of the last third of the time, which a
    longer command does not raise by having more moments to peak in.
    """

    seconds: float
    cpu: float
    memory: int
    early: int
    late: int
    status: int


def measure(command: Sequence[str], folder: Path, **variables: str) -> Measured:
    """Run `command` in `folder` and measure until it ends; what it prints goes to standard error if it fails.

    The course is compiled as its modules are imported, unless it is already, as one that is installed is.
    """
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, busy = psutil.virtual_memory().used, _busy()
    used = [before]
    over = threading.Event()
    threading.Thread(target=_sample, args=(used, over), daemon=True).start()
    started = time.monotonic()
    done = subprocess.run(command, cwd=folder, env={**given, **variables}, capture_output=True, text=True)
    seconds = time.monotonic() - started
    over.set()
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    third = max(1, len(used) // 3)
    early, late = int(median(used[:third])), int(median(used[-third:]))
    return Measured(seconds, _busy() - busy, max(used) - before, early - before, late - before, done.returncode)


def _busy() -> float:
    times = psutil.cpu_times()
    return times.user + times.system + getattr(times, "nice", 0.0)


def _sample(used: list[int], over: threading.Event) -> None:
    while not over.wait(0.1):
        used.append(psutil.virtual_memory().used)
