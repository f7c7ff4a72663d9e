"""Run small computations on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread(place: torch.device | None = None) -> Iterator[None]:
    """Compute with one thread within the block, if `place` is the CPU (the default).

    Models as small as this course's gain nothing from more threads, and become twenty times slower or worse on busy
    cores. With one thread they also give the same result to the last bit on every machine.
    """
    before = torch.get_num_threads()
    if place is None or place.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
