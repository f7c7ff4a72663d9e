"""Compare an answer's outputs with the expected ones: types, shapes, dtypes, numbers and gradients."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import deque
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..exercise.compared_by import COMPARED_BY, UNREADABLE
from ..exercise.nested import leaves
from ..exercise.recording import Recording
from ..exercise.script import Case, are_gradients
from ..exercise.values import Other
from .difference import Difference

GRADIENT_SLACK = 10.0
"""Factor on the tolerance for gradients, which are sums over many terms."""

NO_GRAPH = "the values are right, but no gradient can flow back. Where is the computation graph cut?"

LEARNING = "what learns"
"""Default output name for the names of the parameters that `Case.learning` collects."""


def values_differ(case: Case, expected: Recording, seen: Recording) -> Difference | None:
    """Return the difference in the first output of `seen` that deviates from `expected` beyond the case's tolerance."""
    tolerance = case.tolerance or 0.0
    free_float = not _has_float_input(case)
    right, came = as_compared(case, expected, seen)
    for name, value in right.items():
        if are_gradients(name):
            found = _gradients_differ(value, came.get(name), tolerance * GRADIENT_SLACK)
        elif name == LEARNING:
            found = _mappings_differ(value, came.get(name), tolerance, free_float, "names of trainable parameters")
        else:
            found = _differ(value, came.get(name), tolerance, free_float, top=True)
            if found is not None and came.get(name) is None:
                found = replace(found, message=f"{found.message}. Is a `return` missing?")
        if found is not None:
            return replace(found, output=name)
    return None


def as_compared(case: Case, expected: Recording, seen: Recording) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the expected and the seen outputs, those of calls as the function that the case names makes them."""
    right, came = dict(expected.outputs), dict(seen.outputs)
    for step in case.steps if case.by else ():
        if step.verb == "call" and step.into in right and step.into in came:
            with contextlib.suppress(*UNREADABLE):
                right[step.into], came[step.into] = (
                    COMPARED_BY[case.by](each[step.into], *step.args, **step.kwargs) for each in (right, came)
                )
    return right, came


def _differ(
    expected: Any, seen: Any, tolerance: float, free_float: bool, top: bool = False, part: str = "result"
) -> Difference | None:
    if isinstance(expected, Tensor):
        return _tensors_differ(expected, seen, tolerance, free_float)
    if isinstance(expected, np.ndarray) and isinstance(seen, np.ndarray):
        return _tensors_differ(torch.from_numpy(expected), torch.from_numpy(seen), tolerance, free_float)
    if isinstance(expected, bool | int | float):
        return _numbers_differ(expected, seen, tolerance, has_size=top)
    if isinstance(expected, complex):
        return _complex_differ(expected, seen, tolerance)
    if isinstance(expected, Other):
        return None  # an object is compared by its behaviour, not by its value
    if isinstance(expected, list | tuple | deque):
        return _sequences_differ(expected, seen, tolerance, free_float, top, part)
    if isinstance(expected, dict):
        return _mappings_differ(expected, seen, tolerance, free_float)
    if type(expected) is not type(seen):
        return _wrong_type(expected, seen)
    if isinstance(expected, set | frozenset):
        return _members_differ(expected - seen, sorted(seen - expected, key=repr), "elements")
    return None if expected == seen else Difference("values", f"got {seen!r:.80}")


def _numbers_differ(expected: float, seen: Any, tolerance: float, *, has_size: bool) -> Difference | None:
    """Return how a number differs. A whole number is "too large" or "too small" if `has_size`, and else "wrong"."""
    if isinstance(seen, Tensor | np.ndarray) and (seen.ndim if isinstance(seen, np.ndarray) else seen.dim()) == 0:
        seen = seen.item()
    if isinstance(expected, bool) and not isinstance(seen, bool):
        return _wrong_type(expected, seen)
    if not isinstance(seen, bool | int | float):
        return _wrong_type(expected, seen)
    if isinstance(expected, int) and isinstance(seen, int):
        words = (
            "wrong" if isinstance(expected, bool) or not has_size else f"too {'large' if seen > expected else 'small'}"
        )
        return None if expected == seen else Difference("values", f"got {seen!r:.80}, which is {words}")
    found = _tensors_differ(
        torch.tensor(_as_float(expected), dtype=torch.float64),
        torch.tensor(_as_float(seen), dtype=torch.float64),
        tolerance,
        True,
    )
    got = _as_float(seen)
    return found and Difference("values", "got NaN" if math.isnan(got) else found.message)


def _complex_differ(expected: complex, seen: Any, tolerance: float) -> Difference | None:
    if isinstance(seen, bool) or not isinstance(seen, int | float | complex):
        return _wrong_type(expected, seen)
    parts = ([_as_float(number.real), _as_float(number.imag)] for number in (expected, seen))
    one, other = (torch.tensor(pair, dtype=torch.float64) for pair in parts)
    return None if agree(one, other, tolerance) else Difference("values", f"got {seen!r:.80}")


def _as_float(number: float) -> float:
    """Return a number as a float, or an infinity for a whole number that is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _sequences_differ(
    expected: Any, seen: Any, tolerance: float, free_float: bool, top: bool, part: str
) -> Difference | None:
    """Return the difference in the first result of a tuple, or the first element of a list, that deviates."""
    pieces = isinstance(expected, tuple) and all(isinstance(one, str | bytes) for one in expected)  # no results
    part = part if isinstance(expected, tuple) and not pieces else "element"
    same_kind = type(seen) is type(expected) or (top and isinstance(seen, list | tuple) and not pieces)
    if not same_kind:
        return _wrong_type(expected, seen)
    if len(seen) != len(expected):
        return Difference("type", f"expected {len(expected)} {part}s, got {len(seen)}")
    for position, (one, other) in enumerate(zip(expected, seen, strict=True)):
        found = _differ(one, other, tolerance, free_float, part=part)
        if found is not None:
            where = f"in {part} {position + 1} of {len(expected)}"
            return Difference(found.kind, f"{where}, {found.message.removeprefix('in ')}")
    return None


def _mappings_differ(
    expected: Any, seen: Any, tolerance: float, free_float: bool, keys: str = "keys"
) -> Difference | None:
    if not isinstance(seen, dict):
        return _wrong_type(expected, seen)
    missing = [key for key in expected if key not in seen]
    extra = [key for key in seen if key not in expected]
    if missing and extra and type(missing[0]) is not type(extra[0]):
        return Difference("type", f"expected {named_type(missing[0])} as a key, got {named_type(extra[0])}")
    if missing or extra:
        return _members_differ(missing, extra, keys)
    has_size = not _are_ids(expected.values())
    for key, value in expected.items():
        if isinstance(value, int):
            found = _numbers_differ(value, seen[key], tolerance, has_size=has_size)
        else:
            found = _differ(value, seen[key], tolerance, free_float)
        if found is not None:
            return Difference(found.kind, f"at {key!r:.60}, {found.message}")
    return None


def _are_ids(values: Collection[Any]) -> bool:
    """Return whether values are consecutive whole numbers in some order, as the ids of a vocabulary are."""
    numbers = {value for value in values if isinstance(value, int)}
    return 1 < len(numbers) == len(values) == max(numbers) - min(numbers) + 1


def _members_differ(missing: Collection[Any], extra: Collection[Any], what: str) -> Difference | None:
    parts = [f"{len(missing)} missing"] * bool(missing) + [f"{len(extra)} too many"] * bool(extra)
    example = f", such as {next(iter(extra))!r:.60}" if extra else ""
    return Difference("values", f"the {what} are wrong, with {' and '.join(parts)}{example}") if parts else None


def _tensors_differ(expected: Tensor, seen: Any, tolerance: float, free_float: bool) -> Difference | None:
    if not isinstance(seen, Tensor):
        return _wrong_type(expected, seen)
    if seen.shape != expected.shape:
        return _wrong_shape(expected, seen, tolerance)
    if seen.dtype != expected.dtype and not (free_float and seen.is_floating_point() and expected.is_floating_point()):
        return Difference("dtype", f"expected the dtype {_dtype(expected)}, got {_dtype(seen)}")
    if not agree(expected, seen, tolerance):
        return Difference("values", _value_message(expected, seen, tolerance))
    if expected.requires_grad and not seen.requires_grad:
        return Difference("gradient", NO_GRAPH)
    return None


def agree(expected: Tensor, seen: Tensor, tolerance: float) -> bool:
    """Return whether |seen − expected| ≤ tolerance · (1 + |expected|) everywhere. Infinities must be equal."""
    if not expected.is_floating_point() and not seen.is_floating_point():
        return bool(torch.equal(expected, seen.to(expected.dtype)))
    # No reference yields NaN. A misconception may, and is then recognised by NaN in the same places.
    one, other = seen.detach().double(), expected.detach().double()
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def distance(expected: Tensor, seen: Tensor, tolerance: float) -> float:
    """Return the largest difference in units of the tolerance, or infinity if shapes or infinities differ."""
    if expected.shape != seen.shape:
        return float("inf")
    a, b = expected.detach().double(), seen.detach().double()
    units = (a - b).abs() / (tolerance * (1 + a.abs()))
    return float(units.nan_to_num(nan=float("inf")).max()) if units.numel() else 0.0


def _gradients_differ(expected: Any, seen: Any, tolerance: float) -> Difference | None:
    if expected is None:
        return None
    if seen is None:
        return Difference("gradient", NO_GRAPH)
    wrong = Difference("gradient", "the values are right, but the gradient of one input is wrong")
    named, theirs = _named(expected), _named(seen)
    if named is None or theirs is None:
        return wrong
    for name, one in named.items():
        other = theirs.get(name)
        if one is None or (other is None and not _is_felt(one, tolerance)):
            continue
        if other is None:
            return Difference("gradient", "the values are right, but no gradient reaches one input")
        if not isinstance(one, Tensor) or not isinstance(other, Tensor) or one.shape != other.shape:
            return wrong
        if not agree(one, other, tolerance):
            lost = bool(other.isnan().any())
            return replace(wrong, message=wrong.message.replace("is wrong", "is NaN")) if lost else wrong
    return None


def _named(gradients: Any) -> dict[Any, Any] | None:
    """Return gradients by name or position, or None if the value holds none, as in an invented recording."""
    if isinstance(gradients, list | tuple):
        return dict(enumerate(gradients))
    return gradients if isinstance(gradients, dict) else None


def _is_felt(gradient: Any, tolerance: float) -> bool:
    """Return whether a gradient is nonzero anywhere."""
    return not isinstance(gradient, Tensor) or bool((gradient.detach().double().abs() > tolerance).any())


# -- sentences ---------------------------------------------------------------------------------------------------


def _wrong_type(expected: Any, seen: Any) -> Difference:
    return Difference("type", f"expected {named_type(expected)}, got {named_type(seen)}")


def _wrong_shape(expected: Tensor, seen: Tensor, tolerance: float) -> Difference:
    message = f"expected the shape {tuple(expected.shape)}, got {tuple(seen.shape)}"
    for order in itertools.permutations(range(seen.dim())) if 2 <= seen.dim() <= 4 else ():
        if seen.permute(order).shape == expected.shape and agree(expected, seen.permute(order), tolerance):
            return Difference("shape", f"{message}. The values are right with the axes in the order {order}")
    if seen.numel() == expected.numel():
        message += ", which holds the right number of values"
    return Difference("shape", message)


def _value_message(expected: Tensor, seen: Tensor, tolerance: float) -> str:
    e, s = expected.detach().double(), seen.detach().double()
    bad = ~torch.isfinite(s) & torch.isfinite(e)
    if bool(bad.any()):
        first = tuple(int(i) for i in bad.nonzero()[0])
        what = "NaN" if bool(torch.isnan(s[bad]).any()) else "infinite"
        if s.numel() == 1:
            return f"got {'NaN' if what == 'NaN' else 'an infinite number'}"
        return f"{int(bad.sum())} of {s.numel()} values are {what}" + (f", the first at {list(first)}" if first else "")
    return _how_many(e, s, tolerance, _words(expected.dtype))


def _words(dtype: torch.dtype) -> tuple[str, str]:
    """Return the words for numbers below and above the right ones. Whole numbers are often ids, which have no size."""
    if dtype == torch.bool:
        return "False", "True"
    return ("too small", "too large") if dtype.is_floating_point else ("", "")


def _how_many(e: Tensor, s: Tensor, tolerance: float, words: tuple[str, str]) -> str:
    """Return how many numbers are wrong, and the matching one of `words` if all are too small or all too large."""
    wrong = ~torch.isclose(s, e, rtol=tolerance, atol=tolerance, equal_nan=True)
    if not bool(wrong.any()):  # whole numbers may differ by less than the tolerance
        return "the value is wrong"
    below, above = bool((s < e)[wrong].all()), bool((s > e)[wrong].all())
    which_way = words[above] if below or above else ""
    if wrong.numel() == 1 and which_way in ("False", "True"):
        return f"got {which_way}, which is wrong"
    if wrong.numel() == 1:
        return f"got {float(s):.6g}, which is {which_way}" if which_way else "the value is wrong"
    first = [int(i) for i in wrong.nonzero()[0]]
    all_of_them = f", all of them {which_way}" if which_way and int(wrong.sum()) > 2 else ""
    return f"{int(wrong.sum())} of {wrong.numel()} values are off{all_of_them}, the first at {first}"


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def named_type(value: Any) -> str:
    """Return the name of a value's type, as sentences use it."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return "a numpy array"
    if isinstance(value, Other):
        return f"an object of type {value.type_name}"
    names = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", type(None): "None"}
    names |= {bytes: "bytes", complex: "a complex number"}
    return names.get(type(value), f"a {type(value).__name__}")


def _has_float_input(case: Case) -> bool:
    given = (value for step in case.steps if step.verb != "fill" for value in [*step.args, *step.kwargs.values()])
    return any(isinstance(value, Tensor) and value.is_floating_point() for value in leaves(list(given)))
