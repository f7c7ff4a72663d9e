"""Comparison: a student's recording against the expected one, in an order a person can follow.

Type, then shape, then dtype, then values, then gradients, then side effects, then laws; the first difference is told.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from ..exercise.key import KeyCase
from ..exercise.laws import EXPECTED, Outputs, broken
from ..exercise.recording import Raised, Recording
from ..exercise.runner import OfAnotherKind
from ..exercise.script import Case, Step
from ..exercise.values import Other

Kind = Literal["missing", "raised", "memory", "type", "shape", "dtype", "values", "gradient", "mutated", "law"]
GROWTH, ROOM = 16, 2**18
"""An answer's numbers: so many times the reference's, and so many more, are examined."""

GRADIENT_SLACK = 10.0
"""Gradients are sums over many terms: they are compared ten times more loosely than values."""

_ABSENT = re.compile(r'missing the required "(\w+)" function')
"""What torch says of a module without a `forward`, as a NotImplementedError."""

LAID_OUT = ("view size is not compatible", "last dimension with stride 1")
"""What torch says of a view of memory that lies otherwise; after the first it names what to write instead."""

LEARNING = "what learns"
"""What `Case.learning` calls its names, unless told otherwise."""

NO_MEMORY = ("can't allocate memory", "CUDA out of memory", "not enough memory")
"""What torch says, in a RuntimeError, where Python would raise MemoryError."""


@dataclass(frozen=True)
class Difference:
    """What kind of thing differs, and one sentence about it in the student's terms."""

    kind: Kind
    message: str


def difference(held: KeyCase, seen: Recording, signature: Sequence[str] = ()) -> Difference | None:
    """The first difference between what was expected in a case and what was seen; None when it passes."""
    case = held.case
    if case.raises:
        return _error_expected(case, seen)
    if seen.raised is not None:
        return (
            _mutated(case, seen.mutated[0], signature) if _in_place(seen) else _raised(seen.raised, case, seen.outputs)
        )
    changed = _mutated(case, seen.mutated[0], signature) if seen.mutated and not held.expected.mutated else None
    if case.values:
        found = values_differ(case, held.expected, seen, signature)
        if found is not None:  # a gradient may be wrong because an input was changed
            return changed if changed and found.kind == "gradient" else found
    if changed:
        return changed
    if outgrown(held, seen):
        return Difference("shape", "far more numbers came back than a right answer has")
    outputs = beside_expected(held, seen)
    for use in case.laws:
        sentence = broken(use, outputs)
        if sentence:
            return Difference("law", sentence)
    return None


def outgrown(held: KeyCase, seen: Recording) -> bool:
    """Whether an answer is so large that it is not examined: some laws compare everything with everything.

    A tensor counts with all its sizes, zeros as ones, since a law may make one of the same sizes.
    """
    extent = _extent(seen.outputs)
    return extent > ROOM and extent > GROWTH * _extent(held.expected.outputs) + ROOM


def _extent(value: Any) -> int:
    if isinstance(value, Tensor | np.ndarray):
        return math.prod(max(size, 1) for size in value.shape)
    if isinstance(value, dict):
        return sum(_extent(key) + _extent(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return sum(map(_extent, value))
    return 1


def beside_expected(held: KeyCase, seen: Recording) -> Outputs:
    """The outputs of `seen` as the case's laws get them: with the reference's own where one looks at these, too."""
    return {**seen.outputs, EXPECTED: held.expected.outputs} if held.is_relative else seen.outputs


def values_differ(case: Case, expected: Recording, seen: Recording, signature: Sequence[str] = ()) -> Difference | None:
    """The first output of `seen` that is not `expected`'s, within the case's tolerance."""
    tolerance = case.tolerance or 0.0
    free_float = not _has_float_input(case)
    for name, value in expected.outputs.items():
        if name.startswith("gradients of "):
            found = _gradients_differ(value, seen.outputs.get(name), tolerance * GRADIENT_SLACK, signature)
        else:
            found = _differ(value, seen.outputs.get(name), tolerance, free_float, top=True)
            if found is not None and name == LEARNING:
                found = replace(found, message=found.message.replace("not the right keys:", "of the names that learn,"))
            if found is not None and seen.outputs.get(name) is None:
                found = replace(found, message=f"{found.message}: is there a `return`?")
        if found is not None:
            return found
    return None


def _in_place(seen: Recording) -> bool:
    """Whether the error is autograd's complaint about a changed input."""
    return bool(seen.mutated) and seen.raised is not None and "inplace operation" in seen.raised.message


def _error_expected(case: Case, seen: Recording) -> Difference | None:
    if seen.raised is None:
        return Difference("raised", f"this input makes no sense and should raise {case.raises}; nothing was raised")
    if case.raises in seen.raised.types:
        return None
    if _is_unwritten(seen.raised):
        return _raised(seen.raised, case, seen.outputs)
    words = f": {_in_one_line(seen.raised.message)}" if seen.raised.message else ""
    return Difference("raised", f"{case.raises} was expected, and {seen.raised.name} was raised{words}")


def _raised(raised: Raised, case: Case, outputs: Outputs) -> Difference:
    steps = _steps(case, raised.step)
    steps = steps[1:] if raised.step in outputs else steps[:1]  # the first of a name is over when something came of it
    if _is_unwritten(raised):
        own = (step for step in steps if step.on != step.into)  # what came is no class of theirs
        method = next((step.method for step in own if step.method), "")
        return Difference("missing", f"`{method}` is not answered yet" if method else "not answered yet")
    if absent := _ABSENT.search(raised.message):
        return Difference("raised", f"there is no method `{absent[1]}` in your class: is its name spelt so?")
    if OfAnotherKind.__name__ in raised.types:
        return Difference("type", raised.message)
    where = f", at your line `{raised.line}`" if raised.line else ""
    if "in-place operation" in raised.message and "leaf" in raised.message:
        if not any(_asks_for_a_gradient([*step.args, *step.kwargs.values()]) for step in steps):
            return Difference("raised", f"a parameter is changed in place{where}: that needs `torch.no_grad()`")
        return Difference("mutated", f"an input is changed in place{where}; work on a new tensor instead")
    message = " ".join(raised.message.split())
    if "MemoryError" in raised.types or any(words in message for words in NO_MEMORY):
        return Difference("memory", f"needed more memory than there is{where}: how large are the tensors on the way?")
    if "modified by an inplace operation" in message:
        what = "a tensor of yours is changed in place (`-=`, `x[…] =`), and its gradient needs what it was before"
        return Difference("raised", f"{what}: make a new tensor instead")
    if any(words in message for words in LAID_OUT):
        what = "a view reads memory as it lies, and the numbers of this tensor do not lie there one behind the other"
        return Difference("raised", f"{what} (print its shape and `.stride()`){where}")
    told = f": {_in_one_line(message)}" if message else ""
    return Difference("raised", f"raised {raised.name}{told}{where}")


def _in_one_line(message: str) -> str:
    return textwrap.shorten(message, 240, placeholder=" …")


def _is_unwritten(raised: Raised) -> bool:
    """Whether the answer's own line says that it is not written yet: torch raises the same error for other reasons."""
    stub = "raise NotImplementedError" in raised.line or not (raised.line or raised.message)
    return raised.name == "NotImplementedError" and stub


def _mutated(case: Case, where: str, signature: Sequence[str]) -> Difference:
    into, _, position = where.rpartition(": ")
    steps = [step for step in _steps(case, into) if step.args or step.kwargs]  # what takes nothing changes nothing
    method = next((step.method or "forward" for step in steps if step.on != "answer" or step.method), "")
    name = f"an argument of `{method}`" if method else f"the input {_argument(position, signature)}"
    return Difference("mutated", f"{name} was changed: leave inputs as they came, and work on a copy")


def _steps(case: Case, into: str) -> list[Step]:
    """The calls whose result was kept under `into`."""
    return [step for step in case.steps if step.into == into and step.verb in ("call", "map", "draws", "unroll")]


def _asks_for_a_gradient(value: Any) -> bool:
    """Whether a tensor in `value` does."""
    if isinstance(value, list | tuple):
        return any(map(_asks_for_a_gradient, value))
    if isinstance(value, dict):
        return any(map(_asks_for_a_gradient, value.values()))
    return isinstance(value, Tensor) and value.requires_grad


# -- values ------------------------------------------------------------------------------------------------------


def _differ(expected: Any, seen: Any, tolerance: float, free_float: bool, top: bool = False) -> Difference | None:
    if isinstance(expected, Tensor):
        return _tensors_differ(expected, seen, tolerance, free_float)
    if isinstance(expected, np.ndarray) and isinstance(seen, np.ndarray):
        return _tensors_differ(torch.from_numpy(expected), torch.from_numpy(seen), tolerance, free_float)
    if isinstance(expected, bool | int | float):
        return _numbers_differ(expected, seen, tolerance)
    if isinstance(expected, Other):
        return None  # an object: what it does is examined, not what it is
    if isinstance(expected, list | tuple):
        return _sequences_differ(expected, seen, tolerance, free_float, top)
    if isinstance(expected, dict):
        return _mappings_differ(expected, seen, tolerance, free_float)
    if type(expected) is not type(seen):
        return _wrong_type(expected, seen)
    return None if expected == seen else Difference("values", f"got {seen!r:.80}")


def _numbers_differ(expected: float, seen: Any, tolerance: float) -> Difference | None:
    if isinstance(seen, Tensor | np.ndarray) and (seen.ndim if isinstance(seen, np.ndarray) else seen.dim()) == 0:
        seen = seen.item()
    if isinstance(expected, bool) and not isinstance(seen, bool):
        return _wrong_type(expected, seen)
    if not isinstance(seen, bool | int | float):
        return _wrong_type(expected, seen)
    if isinstance(expected, int) and isinstance(seen, int):
        what = "answer" if isinstance(expected, bool) else "number"
        return None if expected == seen else Difference("values", f"got {seen!r:.80}, which is not the right {what}")
    found = _tensors_differ(
        torch.tensor(_as_float(expected), dtype=torch.float64),
        torch.tensor(_as_float(seen), dtype=torch.float64),
        tolerance,
        True,
    )
    got = _as_float(seen)
    return found and Difference("values", "got NaN" if math.isnan(got) else f"got {got:.6g}: {found.message}")


def _as_float(number: float) -> float:
    """The number, infinite where it is too large a whole number."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _sequences_differ(expected: Any, seen: Any, tolerance: float, free_float: bool, top: bool) -> Difference | None:
    same_kind = type(seen) is type(expected) or (top and isinstance(seen, list | tuple))
    if not same_kind:
        return _wrong_type(expected, seen)
    if len(seen) != len(expected):
        return Difference("type", f"{len(expected)} results were expected, and {len(seen)} came")
    for position, (one, other) in enumerate(zip(expected, seen, strict=True)):
        found = _differ(one, other, tolerance, free_float)
        if found is not None:
            there = "," if found.message.startswith("result ") else ":"
            return Difference(found.kind, f"result {position + 1} of {len(expected)}{there} {found.message}")
    return None


def _mappings_differ(expected: Any, seen: Any, tolerance: float, free_float: bool) -> Difference | None:
    if not isinstance(seen, dict) or isinstance(expected, Counter) != isinstance(seen, Counter):
        return _wrong_type(expected, seen)
    missing = [key for key in expected if key not in seen]
    extra = [key for key in seen if key not in expected]
    if missing and extra and type(missing[0]) is not type(extra[0]):
        return Difference("type", f"a key is {_named_type(extra[0])}, and {_named_type(missing[0])} was expected")
    if missing or extra:
        parts = [f"{len(missing)} missing"] * bool(missing) + [f"{len(extra)} too many"] * bool(extra)
        example = f", such as {extra[0]!r:.60}" if extra else ""
        return Difference("values", f"not the right keys: {' and '.join(parts)}{example}")
    for key, value in expected.items():
        found = _differ(value, seen[key], tolerance, free_float)
        if found is not None:
            return Difference(found.kind, f"at {key!r:.60}: {found.message}")
    return None


def _tensors_differ(expected: Tensor, seen: Any, tolerance: float, free_float: bool) -> Difference | None:
    if not isinstance(seen, Tensor):
        return _wrong_type(expected, seen)
    if seen.shape != expected.shape:
        return _wrong_shape(expected, seen, tolerance)
    if seen.dtype != expected.dtype and not (free_float and seen.is_floating_point() and expected.is_floating_point()):
        return Difference("dtype", f"the type is {_dtype(seen)}, and {_dtype(expected)} was expected")
    if not agree(expected, seen, tolerance):
        return Difference("values", _value_message(expected, seen, tolerance))
    if expected.requires_grad and not seen.requires_grad:
        return Difference("gradient", "the values are right, but no gradient can flow back: where is the graph cut?")
    return None


def agree(expected: Tensor, seen: Tensor, tolerance: float) -> bool:
    """Whether |seen − expected| ≤ tolerance · (1 + |expected|) everywhere; infinities must be equal."""
    if not expected.is_floating_point() and not seen.is_floating_point():
        return bool(torch.equal(expected, seen.to(expected.dtype)))
    # NaN is expected of a misconception only, never of a reference: there it is what the misconception is known by.
    one, other = seen.detach().double(), expected.detach().double()
    return torch.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)


def distance(expected: Tensor, seen: Tensor, tolerance: float) -> float:
    """The largest difference in units of the tolerance; infinite where the shapes or infinities differ."""
    if expected.shape != seen.shape:
        return float("inf")
    a, b = expected.detach().double(), seen.detach().double()
    units = (a - b).abs() / (tolerance * (1 + a.abs()))
    return float(units.nan_to_num(nan=float("inf")).max()) if units.numel() else 0.0


def _gradients_differ(expected: Any, seen: Any, tolerance: float, signature: Sequence[str]) -> Difference | None:
    if expected is None:
        return None
    if seen is None:
        return Difference("gradient", "the values are right, but no gradient can flow back: where is the graph cut?")
    wrong = Difference("gradient", "the values are right, but the gradient of one of the inputs is not")
    named, theirs = _named(expected), _named(seen)
    if named is None or theirs is None:
        return wrong
    for name, one in named.items():
        other = theirs.get(name)
        if one is None or (other is None and not _is_felt(one, tolerance)):
            continue
        if other is None:
            return Difference("gradient", "the values are right, but no gradient reaches one of the inputs")
        if not isinstance(one, Tensor) or not isinstance(other, Tensor) or one.shape != other.shape:
            return wrong
        if not agree(one, other, tolerance):
            lost = bool(other.isnan().any())
            return replace(wrong, message=wrong.message.replace("is not", "is NaN")) if lost else wrong
    return None


def _named(gradients: Any) -> dict[Any, Any] | None:
    """Gradients by name or position; None for what are none: either side may be a recording that was made up."""
    if isinstance(gradients, list | tuple):
        return dict(enumerate(gradients))
    return gradients if isinstance(gradients, dict) else None


def _is_felt(gradient: Any, tolerance: float) -> bool:
    """Whether a gradient is not zero everywhere."""
    return not isinstance(gradient, Tensor) or bool((gradient.detach().double().abs() > tolerance).any())


# -- sentences ---------------------------------------------------------------------------------------------------


def _wrong_type(expected: Any, seen: Any) -> Difference:
    return Difference("type", f"{_named_type(expected)} was expected, and {_named_type(seen)} came")


def _wrong_shape(expected: Tensor, seen: Tensor, tolerance: float) -> Difference:
    message = f"the shape is {tuple(seen.shape)}, and {tuple(expected.shape)} was expected"
    for order in itertools.permutations(range(seen.dim())) if 2 <= seen.dim() <= 4 else ():
        if seen.permute(order).shape == expected.shape and agree(expected, seen.permute(order), tolerance):
            return Difference("shape", f"{message}; the values are right in the order of axes {order}")
    if seen.numel() == expected.numel():
        message += "; the number of values is right"
    return Difference("shape", message)


def _value_message(expected: Tensor, seen: Tensor, tolerance: float) -> str:
    e, s = expected.detach().double(), seen.detach().double()
    bad = ~torch.isfinite(s) & torch.isfinite(e)
    if bool(bad.any()):
        first = tuple(int(i) for i in bad.nonzero()[0])
        what = "NaN" if bool(torch.isnan(s[bad]).any()) else "infinite"
        return f"{int(bad.sum())} of {s.numel()} values are {what}" + (f", the first at {list(first)}" if first else "")
    if s.dim() >= 2 and s.shape[-1] == s.shape[-2] and agree(e, s.mT, tolerance):
        return "the values are right, but transposed"
    if agree(e, -s, tolerance):
        return "the sign is the other way round"
    factor = _constant_factor(e, s, tolerance)
    if factor is not None:
        return f"every value is {factor:.4g} times what it should be"
    return _how_many(e, s, tolerance)


def _how_many(e: Tensor, s: Tensor, tolerance: float) -> str:
    wrong = ~torch.isclose(s, e, rtol=tolerance, atol=tolerance, equal_nan=True)
    if not wrong.dim() or wrong.numel() == 1 or not bool(wrong.any()):  # whole numbers can differ by less than that
        return "it is not the right value"
    first = [int(i) for i in wrong.nonzero()[0]]
    return f"{int(wrong.sum())} of {wrong.numel()} values are off, the first at {first}"


def _constant_factor(e: Tensor, s: Tensor, tolerance: float) -> float | None:
    clear = e.abs() > 1e-3
    if int(clear.sum()) < 2:
        return None
    ratios = s[clear] / e[clear]
    factor = float(ratios.median())
    if abs(factor) < 1e-6 or abs(factor - 1) < 1e-3 or not agree(e * factor, s, tolerance * 10):
        return None
    return factor


def _argument(position: str, signature: Sequence[str]) -> str:
    number = position.split("[")[0]
    if number.isdecimal() and int(number) < len(signature):
        return f"`{signature[int(number)]}`"
    return f"`{position}`"


def _has_float_input(case: Case) -> bool:
    def floats(value: Any) -> bool:
        if isinstance(value, list | tuple):
            return any(floats(item) for item in value)
        if isinstance(value, dict):
            return any(floats(item) for item in value.values())
        return isinstance(value, Tensor) and value.is_floating_point()

    return any(floats([*step.args, *step.kwargs.values()]) for step in case.steps if step.verb != "fill")


def _dtype(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def _named_type(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return "a numpy array"
    if isinstance(value, Other):
        return f"an object of type {value.type_name}"
    names = {int: "a whole number", float: "a number", bool: "True or False", str: "a string", type(None): "None"}
    return names.get(type(value), f"a {type(value).__name__}")
