"""Wrong answers to `softmax` that no misconception knows by name."""

from __future__ import annotations

from torch import Tensor


def _softmax(x: Tensor, dim: int) -> Tensor:
    """Return a softmax without torch's own, because a mutant must fail by its values and not by a forbidden call."""
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def squeezed(x, dim):
    """Lose axes of length one."""
    return _softmax(x, dim).squeeze()


def negative_axes_misread(x, dim):
    return _softmax(x, abs(dim) % x.ndim)


def one_maximum_for_all_beside_a_small_number(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-9)


MUTANTS = [squeezed, negative_axes_misread, one_maximum_for_all_beside_a_small_number]
