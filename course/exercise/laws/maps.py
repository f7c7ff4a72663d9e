"""Laws of attention maps, and of rows that form a two-dimensional grid."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .plain import agree, tensor
from .registry import Outputs, law


@law
def shares_change(
    outputs: Outputs,
    layers: list[int],
    places: list[int],
    of: str = "out",
    to: str = "",
    because: str = "",
    within: float = 2e-6,
) -> str:
    """Require `places` to share attention differently in `of` and `to`, in each of the `layers` of maps (L, ..., T, S).

    The maps are restricted to the rows and columns of `places` and normalised again.
    """
    first, second = (_shares(tensor(outputs[name]).double()[layers], places) for name in (of, to))
    moved = (first - second).abs().flatten(1).amax(1)
    if bool((moved > within).all()):
        return ""
    return because or f"the attention weights in {of} and {to} should differ, but they are the same"


@law
def shares_stay(
    outputs: Outputs,
    layers: list[int],
    places: list[int],
    of: str = "out",
    to: str = "",
    because: str = "",
    within: float = 1e-5,
) -> str:
    """Require `places` to share attention in `of` as in `to`, in the `layers` of maps (L, ..., T, S)."""
    first, second = (_shares(tensor(outputs[name]).double()[layers], places) for name in (of, to))
    if agree(first, second, within):
        return ""
    return because or f"the attention weights in {of} and {to} should be the same, but they differ"


@law
def looks_differ(outputs: Outputs, layers: list[int], of: str = "out", because: str = "", within: float = 3e-7) -> str:
    """Require different attention weights among the T positions, in each of the `layers` of maps (L, ..., T, S)."""
    maps = tensor(outputs[of]).double()[layers]
    apart = (maps - maps.mean(-2, keepdim=True)).abs().flatten(1).amax(1)
    if bool((apart > within).all()):
        return ""
    return because or f"in one layer of {of}, all positions have the same attention weights"


@law
def looks_reach_higher(outputs: Outputs, of: str = "out", because: str = "", within: float = 1e-6) -> str:
    """Require, in maps (L, ..., T, S), a position whose largest weight exceeds its largest weight one layer before.

    Products of maps fail this, because their rows are mixtures of the earlier map's rows, so no maximum grows.
    """
    most = tensor(outputs[of]).double().amax(-2)  # (L, ..., S)
    grows = bool((most.diff(dim=0) > within).any())
    return "" if grows else because or f"in {of}, no position ever gets more attention than in the layer before"


def _shares(maps: Tensor, places: list[int]) -> Tensor:
    kept = maps[..., places, :][..., places]
    return (kept / kept.sum(-1, keepdim=True)).nan_to_num()  # rows without any weight become zero


@law
def grid_is_constant(
    outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "", within: float = 1e-5
) -> str:
    """Require the rows after the first, as a `grid` (height, width), to be constant along `axis` (0 down, 1 across)."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    if agree(laid, laid[:1].expand_as(laid), within):
        return ""
    return because or "on the grid, the values should stay the same along one axis, but they change"


@law
def grid_rises(outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "") -> str:
    """Require the rows after the first, as a `grid` (height, width), to increase strictly along `axis`."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    if bool((laid.diff(dim=0) > 1e-4).all()):
        return ""
    return because or "neighbours on the grid should differ, but some are alike"


def _grid(value: Any, grid: tuple[int, int]) -> Tensor:
    return tensor(value).double()[1:].unflatten(0, tuple(grid))  # (height, width, D)
