"""One thread for small computations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread(place: torch.device | None = None) -> Iterator[None]:
    """On a CPU (unless `place` is another), computes with one thread within the block.

    What is as small as this course's models gains nothing from more, loses twentyfold and worse where cores are busy,
    and repeats itself to the last bit whatever the machine.
    """
    before = torch.get_num_threads()
    if place is None or place.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
