"""Measure the time limits of a training in `fit`.

On a CPU a budget's seconds are processor time, which other programs do not use up. A loop that sleeps uses none, so a
second and far longer limit of elapsed time ends it. On a GPU only elapsed time counts, because models as small as the
course's keep the GPU waiting for Python. An H200 took 120 s for the largest budget.
"""

from __future__ import annotations

import time

import torch

from ..syllabus import Budget
from .unfinished import StoppedBy


class Stopwatch:
    """A stopwatch for a training on the device `place`, with the limits of its budget."""

    def __init__(self, budget: Budget, place: torch.device) -> None:
        self._budget, self._on_cpu = budget, place.type == "cpu"
        self._work, self._clock = time.process_time(), time.monotonic()

    @property
    def seconds(self) -> float:
        """Return the elapsed seconds since the start."""
        return time.monotonic() - self._clock

    def stopped_by(self) -> StoppedBy:
        """Return the limit that has been reached, or an empty string while the training may continue."""
        if self._on_cpu and time.process_time() - self._work >= self._budget.seconds:
            return "processor time"
        return "clock" if self.seconds >= self._budget.wall else ""
