"""`device` and `seed`: choose where to compute, the number of threads, and the random seed."""

from __future__ import annotations

import operator
import random

import numpy as np
import torch

from ..surroundings import variable
from .display import in_notebook
from .folder import folder_number

_seed_python, _seed_numpy, _seed_torch = random.seed, np.random.seed, torch.manual_seed
"""The original functions. A notebook may replace one by mistake with `torch.manual_seed = 42`."""


def device() -> torch.device:
    """Return the GPU if there is one, else the CPU. `COURSE_DEVICE` overrides it (the only way to get `mps`)."""
    wanted = variable("COURSE_DEVICE")
    if wanted:
        return torch.device(wanted)
    if variable("NBGRADER_EXECUTION"):  # grading uses the CPU and does not initialise CUDA
        return torch.device("cpu")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def seed(number: int | None = None) -> int:
    """Seed Python, numpy and torch with `number`, or with the number drawn for this folder, and return it.

    Raises:
        TypeError: `number` is not a whole number.
    """
    chosen = folder_number() if number is None else operator.index(number)
    _seed_python(chosen)
    _seed_numpy(chosen % 2**32)
    _seed_torch(chosen)
    return chosen


def compute_on_one_thread() -> None:
    """Limit torch to one thread in a notebook, as at grading, unless `OMP_NUM_THREADS` is set.

    Models as small as the course's gain nothing from more threads. If other programs keep the cores busy, two threads
    wait for each other, and a cell takes ten times as long.
    """
    if in_notebook() and not variable("OMP_NUM_THREADS"):
        torch.set_num_threads(1)
