"""Wrong answers to `softmax` that no misconception knows by name."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def _softmax(x: Tensor, dim: int) -> Tensor:
    """Ours, not torch's: a mutant must fall by its values and not by a forbidden call."""
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def base_two(x, dim):
    powers = 2.0 ** (x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


def squeezed(x, dim):
    """An axis of one is lost."""
    return _softmax(x, dim).squeeze()


def always_float32(x, dim):
    return _softmax(x.float(), dim)


def graph_cut(x, dim):
    return _softmax(x.detach(), dim)


def shifted_in_place(x, dim):
    x -= x.amax(dim, keepdim=True)
    return _softmax(x, dim)


def negative_axes_misread(x, dim):
    return _softmax(x, abs(dim) % x.ndim)


def hardened(x, dim):
    return F.one_hot(x.argmax(dim), x.shape[dim]).movedim(-1, dim).to(x.dtype) + 0 * x


def smoothed_denominator(x, dim):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-3)


MUTANTS = [
    base_two,
    squeezed,
    always_float32,
    graph_cut,
    shifted_in_place,
    negative_axes_misread,
    hardened,
    smoothed_denominator,
]
