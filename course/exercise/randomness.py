"""Global random state while answers are examined: each script's own, and the caller's own again afterwards."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

_SEEDERS = (random.seed, np.random.seed, torch.random.default_generator.manual_seed)
"""As they were at first: `np.random.seed = 42` in a notebook puts a number in their place."""

_kept = threading.local()


@contextmanager
def randomness_put_back() -> Iterator[None]:
    """After the block, Python's, numpy's and torch's global random state are as they were before.

    A block within another one leaves that to the outer one, because numpy takes five times as long to tell its state
    and to take it back as a short script takes.
    """
    if getattr(_kept, "outside", False):
        yield
        return
    saved = random.getstate(), np.random.get_state(), torch.get_rng_state()
    _kept.outside = True
    try:
        yield
    finally:
        _kept.outside = False
        random.setstate(saved[0])
        np.random.set_state(saved[1])
        torch.set_rng_state(saved[2])


def begin_anew(seed: int) -> None:
    """Have global random numbers begin at `seed`."""
    for begin in _SEEDERS:
        begin(seed)
