"""Find checkpoints that are alike: the same weights from several students, or one derived from another.

Two honest trainings begin far apart and stay far apart. Each matrix is reduced to a short sketch, so that comparing
all pairs is cheap. A sketch holds a random projection, which preserves distances, and the sorted norms of rows and
columns, which do not change when hidden units are permuted.
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
"""The dimension that a matrix is projected to, which preserves distances within a tenth."""

PERIOD = 65521
"""The period of the projection's random signs, a prime."""

QUANTILES = 32
"""The number of quantiles at which sorted norms are compared."""

SMALLEST = 64
"""The fewest numbers that a matrix needs to be compared."""


NEAR = 0.1
"""The distance below which two checkpoints are near, in every matrix, relative to the matrix's norm.

Measured in four tasks (cbow, rnn, self_attention, lora), as the largest distance of any matrix: honest trainings 1.3 to
1.8; the same initial weights with batches in two orders 0.28 to 1.1; copies with noise of 0.001 0.001 to 0.013, with
noise of 0.01 up to 0.13, after a step of Adam 0.003 to 0.04, converted to float16 and back below 0.001.
"""

SAME_NORMS = 3e-3
"""The distance of sorted row and column norms below which weights count as permuted copies.

Measured in the same tasks: 0.03 to 0.2 for honest trainings, at least 0.015 with the same initial weights, up to 0.0005
for permuted copies with noise of 0.0001, and up to 0.006 with noise of 0.001.
"""


@dataclass(frozen=True)
class Sketch:
    """The sketches of N matrices: `places` (N, SKETCH), projections of unit norm, and `norms` (N, 2 * QUANTILES)."""

    places: NDArray[np.float32]
    norms: NDArray[np.float32]


def sketched(checkpoint: Checkpoint) -> tuple[tuple[tuple[int, ...], ...], Sketch] | None:
    """Return the shapes of a checkpoint's matrices and their sketch; None if there is nothing to compare."""
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
    """Return the projection to SKETCH sums of the numbers from position `start` on, each with a random sign."""
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
    """Weights that several students handed in, with the name of the checkpoint file.

    `how` is "the same weights", "nearly the same weights" or "the same weights, their units in another order". `apart`
    is the largest distance of two near checkpoints in the group, relative to their norm.
    """

    file: str
    students: tuple[str, ...]
    how: str = "the same weights"
    apart: float = 0.0


def alike_checkpoints(submissions: Mapping[str, Path]) -> tuple[SharedWeights, ...]:
    """Return the weights that several `submissions` (folders by student) share or nearly share, most shared first."""
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
    """Return groups of near checkpoints that have one file name and the same shapes."""
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
    """Return pairwise distances, the largest over N matrices, relative to the matrix's norm: (n, N, K) -> (n, n)."""
    farthest = np.zeros((len(kept), len(kept)))
    for matrix in range(kept.shape[1]):
        one = kept[:, matrix].astype(np.float64)
        squares = np.square(one).sum(1)
        gaps = np.maximum(squares[:, None] + squares - 2 * one @ one.T, 0)
        farthest = np.maximum(farthest, np.sqrt(gaps / np.maximum(np.maximum(squares[:, None], squares), 1e-12)))
    return farthest


def _groups(near: NDArray[np.bool_]) -> list[list[int]]:
    """Return the connected components of the boolean matrix `near` (n, n) that have more than one element."""
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
