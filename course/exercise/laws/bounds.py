"""Laws of a single output: its shape, its type and the size of its numbers."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .plain import agree, kind, tensor
from .registry import Outputs, law


@law
def sums_to_one(outputs: Outputs, of: str = "out", dim: int = -1, because: str = "") -> str:
    """Require probabilities to sum to one along `dim`."""
    total = tensor(outputs[of]).double().sum(dim)
    worst = float((total - 1).abs().max()) if total.numel() else 0.0
    if worst < 1e-5:
        return ""
    return because or f"the probabilities should sum to one, but a sum is off by {worst:.3g}"


@law
def bounded(
    outputs: Outputs, of: str = "out", low: float = -math.inf, high: float = math.inf, because: str = ""
) -> str:
    """Require every value to lie in [low, high]."""
    values = tensor(outputs[of]).double()
    if bool((values >= low).all()) and bool((values <= high).all()):
        return ""
    return because or f"a value lies outside [{low:g}, {high:g}]"


@law
def positive(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require every value to be positive."""
    if bool((tensor(outputs[of]) > 0).all()):
        return ""
    return because or "a probability is zero or negative"


@law
def finite(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require no NaN and no infinity."""
    bad = int((~torch.isfinite(tensor(outputs[of]).double())).sum())
    return (because or f"{bad} values are NaN or infinite") if bad else ""


@law
def shape_is(outputs: Outputs, shape: tuple[int, ...], of: str = "out", because: str = "", meaning: str = "") -> str:
    """Require a shape. `meaning` explains the axes in the message about a wrong one."""
    found = tuple(tensor(outputs[of]).shape)
    asked = f". The task asks for {meaning}" if meaning else ""
    return "" if found == tuple(shape) else because or f"expected the shape {tuple(shape)}, got {found}{asked}"


@law
def is_a_tensor(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require the output, or each one of several, to be a tensor."""
    found = outputs[of] if isinstance(outputs[of], list) and outputs[of] else [outputs[of]]
    others = [one for one in found if not isinstance(one, Tensor)]
    return because or f"expected a tensor, got {kind(others[0])}" if others else ""


@law
def has_parts(outputs: Outputs, count: int, of: str = "out", each: bool = False, because: str = "") -> str:
    """Require a tuple or list of `count` tensors, or, with `each`, a list of such answers."""
    answers = outputs[of] if each and isinstance(outputs[of], list) else [outputs[of]]
    others = [found for found in answers if not _is_parts(found, count)]
    if not others:
        return ""
    several = isinstance(others[0], list | tuple) and len(others[0]) != count
    came = f"{len(others[0])} values" if several else kind(others[0])
    return because or f"expected a tuple of {count} tensors, got {came}"


def _is_parts(found: Any, count: int) -> bool:
    return isinstance(found, list | tuple) and len(found) == count and all(isinstance(part, Tensor) for part in found)


@law
def whole_numbers(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require a LongTensor."""
    if isinstance(outputs[of], Tensor) and outputs[of].dtype == torch.int64:
        return ""
    return because or f"expected a LongTensor, got {kind(outputs[of])}"


@law
def dtype_is(outputs: Outputs, dtype: str, of: str = "out", because: str = "") -> str:
    """Require a tensor of a dtype, such as "float64"."""
    found = str(tensor(outputs[of]).dtype).removeprefix("torch.")
    return "" if found == dtype else because or f"expected the dtype {dtype}, got {found}"


@law
def argmax_is(outputs: Outputs, index: Any, of: str = "out", because: str = "") -> str:
    """Require the largest value along the last axis at `index` (a number or a LongTensor)."""
    found = tensor(outputs[of]).argmax(-1)
    return "" if agree(found, torch.as_tensor(index), 0.0) else because or "the largest value is at the wrong position"


@law
def larger_at(outputs: Outputs, index: int, than: int, of: str = "out", because: str = "") -> str:
    """Require the value at `index` along the last axis to be larger than the one at `than` everywhere."""
    values = tensor(outputs[of])
    if bool((values[..., index] > values[..., than]).all()):
        return ""
    return because or f"the value at position {index} should be larger than the one at position {than}"


@law
def at_most(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """Require a number of at most `value`."""
    found = float(outputs[of])
    return "" if found <= value else because or f"expected at most {value:.4g}, got {found:.4g}"


@law
def exceeds(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """Require an entry larger than `value` in absolute value, possibly infinite."""
    largest = float(tensor(outputs[of]).double().abs().max())
    return "" if largest > value else because or f"some value should exceed {value:g} in absolute value, but none does"


@law
def combination_is_not_zero(outputs: Outputs, weights: Tensor, of: str = "out", because: str = "") -> str:
    """Require rows whose sum weighted by `weights` is not zero, as it is for a linear function."""
    rows = tensor(outputs[of]).double().reshape(len(weights), -1)
    size = float((weights.double().abs() @ rows.abs()).max())
    if float((weights.double() @ rows).abs().max()) > 1e-5 * size:
        return ""
    return because or "the results cancel out, as those of a linear function do"


@law
def some_below_zero(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require a negative value, as raw scores have and the outputs of a softmax or ReLU do not."""
    if bool((tensor(outputs[of]) < 0).any()):
        return ""
    return because or "some scores should be below 0, but none is. Does an activation or a softmax change them?"
