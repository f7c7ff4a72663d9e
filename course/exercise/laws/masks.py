"""Laws of masks in a dict, named by their keys."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .plain import kind
from .registry import Outputs, law


@law
def mask_fits(outputs: Outputs, key: str, shape: tuple[int, ...], of: str = "out", because: str = "") -> str:
    """Require the entry at `key` of a dict to be a tensor that broadcasts to `shape`, (B, h, T, S)."""
    if isinstance(outputs[of], dict) and key not in outputs[of]:
        return because or f"the result has no key {key!r}"
    mask = outputs[of][key]
    if not isinstance(mask, Tensor):
        return because or f"expected a mask at {key!r}, got {kind(mask)}"
    if _expanded(mask, shape) is not None:
        return ""
    return because or f"the mask at {key!r} of shape {tuple(mask.shape)} does not broadcast to {tuple(shape)}"


@law
def mask_is_boolean(outputs: Outputs, key: str, of: str = "out", because: str = "") -> str:
    """Require the entry at `key` of a dict to be boolean, not numeric."""
    mask = outputs[of][key]
    if isinstance(mask, Tensor) and mask.dtype == torch.bool:
        return ""
    return because or f"expected True and False at {key!r}, got {kind(mask)}"


@law
def mask_is(outputs: Outputs, key: str, allowed: bool, where: Tensor, of: str = "out", because: str = "") -> str:
    """Require the mask at `key` of a dict to be `allowed` wherever `where` (B, h, T, S) is True."""
    mask = outputs[of][key]
    seen = _expanded(mask, where.shape) if isinstance(mask, Tensor) else None
    if seen is not None and bool((seen[where] == allowed).all()):
        return ""
    return because or f"the mask at {key!r} should be {allowed} at some positions where it is not"


@law
def none_at(outputs: Outputs, key: str, of: str = "out", because: str = "") -> str:
    """Require the entry at `key` of a dict to be None."""
    if isinstance(outputs[of], dict) and key not in outputs[of]:
        return f"the result has no key {key!r}. Add the key with the value None"
    return "" if outputs[of][key] is None else because or f"expected None at {key!r}, got {kind(outputs[of][key])}"


def _expanded(mask: Tensor, shape: Any) -> Tensor | None:
    try:
        return mask.expand(tuple(shape))
    except RuntimeError:
        return None
