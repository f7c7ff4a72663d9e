"""Convert a result to a tensor, compare it, and describe it in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..values import Other


def tensor(value: Any) -> Tensor:
    """Return a result as a detached tensor. Numbers and nested lists of numbers are converted.

    Raises:
        TypeError, ValueError, RuntimeError: the value cannot be converted.
    """
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, list) and value and all(isinstance(item, Tensor) for item in value):
        raise TypeError("tensors of different shapes")
    return torch.as_tensor(value)


def agree(first: Any, second: Any, within: float) -> bool:
    """Return whether two values are equal up to `within` (rtol = atol). Lists compare item by item, NaN equals nothing.

    Raises:
        TypeError: one of the values is None or cannot be compared.
    """
    if any(one is None or isinstance(one, Other) for one in (first, second)):
        raise TypeError("where nothing came back, nothing agrees and nothing differs")
    if (
        isinstance(first, list | tuple)
        and isinstance(second, list | tuple)
        and any(isinstance(item, Tensor) for item in first)
    ):
        return len(first) == len(second) and all(agree(a, b, within) for a, b in zip(first, second, strict=True))
    if not isinstance(first, Tensor | float | int | list) or not isinstance(second, Tensor | float | int | list):
        return bool(type(first) is type(second) and first == second)
    a, b = tensor(first), tensor(second)
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=within, atol=within, equal_nan=False)


def kinds(value: Any) -> str:
    """Describe a result. Of several, describe the first and the next one of another kind."""
    if not isinstance(value, list | tuple) or not value:
        return kind(value)
    found = list(dict.fromkeys(map(kind, value)))
    return f"{len(value)} results, the first {found[0]}" + (f" and another {found[1]}" if found[1:] else "")


def kind(value: Any) -> str:
    """Describe a value in a few words: a tensor by its shape and dtype, anything else by its type."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and dtype {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, Other):
        return f"an object of type {value.type_name}"
    named = {
        type(None): "None",
        np.ndarray: "a numpy array",
        int: "a whole number",
        float: "a number",
        str: "a string",
    }
    return named.get(type(value), f"a {type(value).__name__}")
