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

import psutil


@dataclass(frozen=True)
class Measured:
    """Wall seconds, processor seconds of the machine, and bytes of memory at the peak above those before."""

    seconds: float
    cpu: float
    memory: int
    status: int


def measure(command: Sequence[str], folder: Path, **variables: str) -> Measured:
    """Run `command` in `folder` and measure until it ends; what it prints goes to standard error if it fails."""
    before, busy = psutil.virtual_memory().used, _busy()
    peak = [before]
    over = threading.Event()
    threading.Thread(target=_sample, args=(peak, over), daemon=True).start()
    started = time.monotonic()
    done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True)
    seconds = time.monotonic() - started
    over.set()
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
    return Measured(seconds, _busy() - busy, peak[0] - before, done.returncode)


def _busy() -> float:
    times = psutil.cpu_times()
    return times.user + times.system + getattr(times, "nice", 0.0)


def _sample(peak: list[int], over: threading.Event) -> None:
    while not over.wait(0.1):
        peak[0] = max(peak[0], psutil.virtual_memory().used)
