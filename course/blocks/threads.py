"""One thread for small computations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread(place: torch.device | None = None) -> Iterator[None]:
    """On a CPU (unless `place` is another), compute with one thread within the block.

    Models as small as this course's gain nothing from more threads, and lose twentyfold and worse where cores are busy.
    With one thread they also repeat themselves to the last bit on every machine.
    """
    before = torch.get_num_threads()
    if place is None or place.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
