"""Checkpoints that are alike: the same weights from several students, or so near that one was made of the other.

Two honest trainings begin apart and stay apart. Of every matrix a short sketch is kept, by which distances between all
pairs cost next to nothing: a random projection, which tells how far two are apart, and the sorted norms of rows and
columns, which stay when hidden units are put into another order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course.grading.report.checkpoint_files import DTYPES, Checkpoint, Stored, checkpoints_in

SKETCH = 256
"""Numbers that a matrix is projected to: distances come out within a tenth of themselves."""

PERIOD = 65521
"""The projection's signs repeat after a prime number of places."""

QUANTILES = 32
"""Points at which sorted norms are compared."""

SMALLEST = 64
"""Numbers of the smallest matrix that says anything."""


NEAR = 0.1
"""Two checkpoints are near when each matrix is nearer than this to the other's, by its length, whatever its scale.

Measured in four tasks (cbow, rnn, self_attention, lora): honest trainings are 1.3 to 1.8 apart in the matrix they
differ most in; from one start, their batches in two orders, 0.28 to 1.1. Copies with noise of 0.001 are 0.001 to 0.013
apart, with noise of 0.01 up to 0.13, after a step of Adam's 0.003 to 0.04, by way of float16 below 0.001.
"""

SAME_NORMS = 3e-3
"""How far apart the sorted norms of rows and columns are, at most, of weights whose units are in another order.

Measured there: 0.03 to 0.2 for honest trainings, 0.015 and more from one start; up to 0.0005 for permuted copies with
noise of 0.0001, and up to 0.006 with 0.001.
"""


@dataclass(frozen=True)
class Sketch:
    """What is kept of N matrices: `places` (N, SKETCH), all of length one, and `norms` (N, 2 * QUANTILES)."""

    places: NDArray[np.float32]
    norms: NDArray[np.float32]


def sketched(checkpoint: Checkpoint) -> tuple[tuple[tuple[int, ...], ...], Sketch] | None:
    """The shapes of a checkpoint's matrices and their sketch; None where there is nothing to compare."""
    weights = [one for one in checkpoint.tensors if one.dtype in DTYPES and one.size >= SMALLEST]
    matrices = sorted((one for one in weights if len(one.shape) > 1), key=lambda one: (one.shape, one.name))
    with np.errstate(all="ignore"):
        parts = [_sketch(checkpoint, one) for one in matrices]
    if not parts or not all(np.isfinite(place).all() for place, _ in parts):
        return None
    places, norms = (np.stack(kind).astype(np.float32) for kind in zip(*parts))
    return tuple(one.shape for one in matrices), Sketch(places, norms)


def _sketch(checkpoint: Checkpoint, matrix: Stored) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    place, across = np.zeros(SKETCH), np.zeros(max(1, matrix.size // matrix.shape[0]))
    down, start = [], 0
    for block in checkpoint.blocks(matrix):
        squares = np.square(block, dtype=np.float64)
        down.append(squares.sum(1))
        across += squares.sum(0)
        place += _projected(block.ravel(), start)
        start += block.size
    length = np.sqrt(across.sum())
    if length == 0:
        return np.zeros(SKETCH), np.zeros(2 * QUANTILES)
    rows, columns = np.sqrt(np.concatenate(down)), np.sqrt(across)
    at = np.linspace(0, 1, QUANTILES)
    profile = np.concatenate([np.quantile(some, at) / np.sqrt(np.square(some).mean()) for some in (rows, columns)])
    return place / length, profile


def _projected(numbers: NDArray[np.float32], start: int) -> NDArray[np.float64]:
    """Each number, its sign drawn by its place, added to one of SKETCH sums."""
    signs = np.resize(np.roll(_signs(), -(start % PERIOD)), numbers.size)
    first = start % SKETCH
    padded = np.zeros(-(-(first + numbers.size) // SKETCH) * SKETCH)
    padded[first : first + numbers.size] = numbers * signs
    return padded.reshape(-1, SKETCH).sum(0)


@cache
def _signs() -> NDArray[np.float32]:
    return np.random.default_rng(20261124).choice(np.array([-1, 1], np.float32), PERIOD)


@dataclass(frozen=True)
class SharedWeights:
    """Weights that several students handed in, and the file's name.

    `how` is "the same weights", "nearly the same weights" or "the same weights, their units in another order"; `apart`
    is how far those two are apart that are near each other and farthest, as a share of their length.
    """

    file: str
    students: tuple[str, ...]
    how: str = "the same weights"
    apart: float = 0.0


def alike_checkpoints(submissions: Mapping[str, Path]) -> tuple[SharedWeights, ...]:
    """The weights that more than one of the `submissions` (folders by student) holds, or nearly; most shared first."""
    owners: dict[tuple[str, str], list[str]] = defaultdict(list)
    different: dict[tuple[str, object], dict[str, Sketch]] = defaultdict(dict)
    for student, folder in submissions.items():
        for name, checkpoint in checkpoints_in(folder).items():
            digest = checkpoint.digest()
            owners[name, digest].append(student)
            if len(owners[name, digest]) == 1 and (kept := sketched(checkpoint)) is not None:
                shapes, sketch = kept
                different[name, shapes][digest] = sketch
    same = [SharedWeights(name, tuple(students)) for (name, _), students in owners.items() if len(students) > 1]
    near = [shared for (name, _), sketches in different.items() for shared in _near(name, sketches, owners)]
    return tuple(sorted([*same, *near], key=lambda shared: (-len(shared.students), shared.file, shared.students)))


def _near(
    name: str, sketches: Mapping[str, Sketch], owners: Mapping[tuple[str, str], list[str]]
) -> list[SharedWeights]:
    """Those of one file and shape that are near each other, in groups."""
    digests = list(sketches)
    apart = distances(np.stack([one.places for one in sketches.values()]))
    order = distances(np.stack([one.norms for one in sketches.values()]))
    moved = (apart >= NEAR) & (order < SAME_NORMS)
    found = []
    for how, near in (
        ("nearly the same weights", apart < NEAR),
        ("the same weights, their units in another order", moved),
    ):
        for group in _groups(near):
            students = sorted(student for index in group for student in owners[name, digests[index]])
            farthest = max(float(apart[i, j]) for i in group for j in group if near[i, j])
            found.append(SharedWeights(name, tuple(students), how, farthest))
    return found


def distances(kept: NDArray[np.float32]) -> NDArray[np.float64]:
    """How far apart each two of n are in the matrix they differ most in, by its length: (n, N, K) -> (n, n)."""
    farthest = np.zeros((len(kept), len(kept)))
    for matrix in range(kept.shape[1]):
        one = kept[:, matrix].astype(np.float64)
        squares = np.square(one).sum(1)
        gaps = np.maximum(squares[:, None] + squares - 2 * one @ one.T, 0)
        farthest = np.maximum(farthest, np.sqrt(gaps / np.maximum(np.maximum(squares[:, None], squares), 1e-12)))
    return farthest


def _groups(near: NDArray[np.bool_]) -> list[list[int]]:
    """Who is near somebody, with all those he or she is near to, at first or second hand."""
    left, found = set(range(len(near))), []
    while left:
        group, waiting = set(), [left.pop()]
        while waiting:
            group.add(one := waiting.pop())
            reached = {int(other) for other in np.flatnonzero(near[one])} & left
            left -= reached
            waiting += reached
        if len(group) > 1:
            found.append(sorted(group))
    return found
