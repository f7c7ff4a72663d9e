"""Helpers that several hidden tests of this topic share."""

from torch import Tensor

from course.exercise import Rng


def windows(ids: Tensor, length: int, rng: Rng, most: int = 10**9) -> tuple[Tensor, Tensor]:
    """Disjoint windows in random order: contexts (N, length) and the token after each (N,); no query holds a target."""
    cut = ids[: len(ids) // (length + 1) * (length + 1)].view(-1, length + 1)
    cut = cut[rng.permutation(len(cut))[:most]]
    return cut[:, :-1], cut[:, -1]
