"""The time limits of a training: how long `fit` lets a loop run.

On a CPU the seconds of a budget are processor time, which a busy machine does not use up for you. A loop that sleeps
uses none, so a second and far longer limit on the clock ends it. On a GPU only the clock counts: models as small as
the course's keep it waiting for Python, and an H200 took 120 s for the largest budget.
"""

from __future__ import annotations

import time

import torch

from ..syllabus import Budget
from .unfinished import StoppedBy


class Stopwatch:
    """Measures a training on `place` against the seconds of its budget."""

    def __init__(self, budget: Budget, place: torch.device) -> None:
        self._budget, self._on_cpu = budget, place.type == "cpu"
        self._work, self._clock = time.process_time(), time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds on the clock since the start."""
        return time.monotonic() - self._clock

    def stopped_by(self) -> StoppedBy:
        """Which limit has been reached; empty while the training may go on."""
        if self._on_cpu and time.process_time() - self._work >= self._budget.seconds:
            return "processor time"
        return "clock" if self.seconds >= self._budget.wall else ""
