"""Set the global random state for each script that runs, and restore the caller's afterwards."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

_SEEDERS = (random.seed, np.random.seed, torch.default_generator.manual_seed)
"""The original functions. A notebook may replace one by mistake with `np.random.seed = 42`."""

_kept = threading.local()


@contextmanager
def randomness_put_back() -> Iterator[None]:
    """Restore the global random state of Python, numpy and torch after the block.

    A nested block leaves that to the outer one, because saving and restoring numpy's state takes five times as long
    as a short script.
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
    """Seed all global random number generators."""
    for begin in _SEEDERS:
        begin(seed)
