"""`device` and `seed`: where to compute, on how many threads, and which number randomness starts from."""

from __future__ import annotations

import operator
import random

import numpy as np
import torch

from ..surroundings import variable
from .display import in_notebook
from .folder import folder_number

_seed_python, _seed_numpy, _seed_torch = random.seed, np.random.seed, torch.manual_seed
"""As they were at first: `torch.manual_seed = 42` in a notebook puts a number in its place."""


def device() -> torch.device:
    """The GPU where there is one, else the CPU; `COURSE_DEVICE` overrides it (`mps` only so)."""
    wanted = variable("COURSE_DEVICE")
    if wanted:
        return torch.device(wanted)
    if variable("NBGRADER_EXECUTION"):  # grading is done on the CPU, without touching CUDA
        return torch.device("cpu")
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def seed(number: int | None = None) -> int:
    """Seeds Python, numpy and torch from `number`, or from the number this folder drew for itself; returns it.

    Raises:
        TypeError: `number` is no whole number.
    """
    chosen = folder_number() if number is None else operator.index(number)
    _seed_python(chosen)
    _seed_numpy(chosen % 2**32)
    _seed_torch(chosen)
    return chosen


def compute_on_one_thread() -> None:
    """Let torch use one thread in a notebook, as at grading, unless `OMP_NUM_THREADS` says how many.

    Models as small as the course's gain nothing from more threads. Where other programs keep the cores busy, two
    threads wait for each other, and a cell takes ten times as long.
    """
    if in_notebook() and not variable("OMP_NUM_THREADS"):
        torch.set_num_threads(1)
