"""Numbers that references are tried on, and how what comes of them is compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor


def noise(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64, requires_grad: bool = True) -> Tensor:
    """Standard normal numbers, the same for a seed, a shape and any dtype."""
    generator = torch.Generator().manual_seed(seed + 31 * len(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_(requires_grad)


def gradients(output: Tensor, inputs: Iterable[Tensor], **options: Any) -> tuple[Tensor, ...]:
    """The gradients with respect to `inputs` of a sum of `output`, weighted by noise."""
    direction = noise(*output.shape, seed=9, dtype=output.dtype, requires_grad=False)
    return torch.autograd.grad((output * direction).sum(), list(inputs), **options)


def close(a: Tensor, b: Tensor) -> None:
    """Demand the same numbers up to rounding in their dtype."""
    loose = a.dtype == torch.float32
    torch.testing.assert_close(a, b, rtol=1e-4 if loose else 1e-10, atol=1e-5 if loose else 1e-10)


def close_gradients(
    ours: Tensor, theirs: Tensor, leaves: Sequence[Tensor], their_leaves: Sequence[Tensor] = ()
) -> None:
    """Demand the same gradients of both outputs, with respect to `leaves` and, where `theirs` has its own, to those."""
    for a, b in zip(gradients(ours, leaves), gradients(theirs, their_leaves or leaves), strict=True):
        close(a, b)


def same_with_gradients(
    ours: Tensor, theirs: Tensor, inputs: Sequence[Tensor], tolerance: float = 1e-10, **options: Any
) -> None:
    """Demand the same values in the same dtype, and the same gradients with respect to `inputs`."""
    assert ours.dtype == theirs.dtype
    pairs = zip(
        (ours, *gradients(ours, inputs, **options)), (theirs, *gradients(theirs, inputs, **options)), strict=True
    )
    for a, b in pairs:
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
