"""Laws of rows that are laid out as a picture."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .plain import agree, tensor
from .registry import Outputs, law


@law
def grid_is_constant(
    outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "", within: float = 1e-5
) -> str:
    """The rows after the first, laid out as `grid` (height, width), do not change along `axis` (0 down, 1 across)."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    if agree(laid, laid[:1].expand_as(laid), within):
        return ""
    return because or "on the grid, the values should stay the same along one axis, but they change"


@law
def grid_rises(outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "") -> str:
    """The rows after the first, laid out as `grid` (height, width), rise from each to the next along `axis`."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    if bool((laid.diff(dim=0) > 1e-4).all()):
        return ""
    return because or "neighbours on the grid should differ, but some are alike"


def _grid(value: Any, grid: tuple[int, int]) -> Tensor:
    return tensor(value).double()[1:].unflatten(0, tuple(grid))  # (height, width, D)
