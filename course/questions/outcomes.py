"""Values as a person sees them: written down, compared, and judged for being easy to work out.

A `Value` is plain data, so it crosses from the process that executes an answer to the one that asks about it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

EQUAL, DIFFERENT = 1e-4, 2e-2
"""Two numbers are equal up to the first distance and different from the second on. Between the two, nobody can say."""

MOST_NUMBERS, MOST_PARTS, MOST_TEXT, DEEPEST, LARGEST = 400, 60, 4000, 6, 2**64
"""Limits of what is seen: numbers of a tensor, parts of a list, characters, nesting, and the size of a whole number."""

MOST_EASY = 16
"""Numbers of a tensor that a person works out without a calculator."""

NOT_ASKED = {"other", "endless"}
"""Kinds of outcomes that no question is about."""


@dataclass(frozen=True)
class Value:
    """A kind such as `float tensor`, `list` or `error`, with a tensor's shape and its numbers, or the parts.

    A tensor of more than `MOST_NUMBERS` numbers has a shape only. `plain` has the same as lists, for JSON.
    """

    kind: str
    parts: tuple[Any, ...] = ()
    shape: tuple[int, ...] = ()

    @property
    def is_asked(self) -> bool:
        """Return whether a question may be about this outcome."""
        return self.kind not in NOT_ASKED

    def to_plain(self) -> list[Any]:
        """Return nested lists for `from_plain`."""
        return [self.kind, [p.to_plain() if isinstance(p, Value) else p for p in self.parts], list(self.shape)]

    @classmethod
    def from_plain(cls, plain: Any, depth: int = 0) -> Value:
        """Return the value that `to_plain` wrote.

        Raises:
            ValueError, TypeError: it wrote no such thing.
        """
        kind, parts, shape = plain
        deeper = depth + 1
        value = cls(kind, tuple(cls.from_plain(p, deeper) if isinstance(p, list) else p for p in parts), tuple(shape))
        if depth > 2 * DEEPEST + 2 or not _is_sound(value):
            raise ValueError("this is no value that a person sees")
        return value


_SCALARS = {"bool": bool, "int": int, "float": float, "text": str}
_TENSORS = {f"{kind} {word}": _SCALARS[kind] for kind in ("bool", "int", "float") for word in ("tensor", "array")}
_NESTED = {"list": "", "tuple": "", "set": "", "dict": "pair", "pair": ""}
"""Kinds whose parts are values, each with the only kind that these may have, or nothing for any kind."""


def _is_sound(value: Value) -> bool:
    """Return whether a value could come from `seen`, or from a run that fails. Hostile code can send anything."""
    kind, parts, shape = value.kind, value.parts, value.shape
    if not all(type(size) is int and 0 <= size < LARGEST for size in shape) or len(shape) > 64:
        return False
    if kind in _TENSORS:
        is_whole = not parts or len(parts) == math.prod(shape) <= MOST_NUMBERS
        return is_whole and all(_is_scalar(part, _TENSORS[kind]) for part in parts)
    if kind in _SCALARS:
        return len(parts) == 1 and _is_scalar(parts[0], _SCALARS[kind])
    if kind in _NESTED:
        fits = len(parts) == 2 if kind == "pair" else len(parts) <= MOST_PARTS
        return fits and all(isinstance(part, Value) and _NESTED[kind] in ("", part.kind) for part in parts)
    if kind == "error":
        return [type(part) for part in parts] == [str, bool] and len(parts[0]) <= MOST_TEXT
    known = kind in ("None", "shape", "other", "endless")
    return known and all(type(part) is str and len(part) <= MOST_TEXT for part in parts)


def _is_scalar(part: Any, of: type) -> bool:
    if of is int:
        return type(part) is int and abs(part) < LARGEST
    if of is str:
        return type(part) is str and len(part) <= MOST_TEXT
    return type(part) is of


def seen(value: Any, most: int = MOST_NUMBERS, depth: int = 0) -> Value:
    """Return what a person sees of a Python value. Whatever is large, deep or of an unknown type is `other`.

    A tensor of more than `most` numbers has a shape only, and a list of more parts is large.
    """
    if depth > DEEPEST:
        return Value("other")
    parts = min(most, MOST_PARTS)
    inner = partial(seen, most=most, depth=depth + 1)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        tensor = _seen_tensor(torch.from_numpy(np.ascontiguousarray(value)), most)
        return replace(tensor, kind=tensor.kind.replace("tensor", "array"))
    if isinstance(value, Tensor):
        return _seen_tensor(value.detach(), most)
    if isinstance(value, (bool, np.bool_)):
        return Value("bool", (bool(value),))
    if isinstance(value, (int, np.integer)):
        return Value("int", (int(value),)) if abs(int(value)) < LARGEST else Value("other")
    if isinstance(value, (float, np.floating, Fraction)):
        return Value("float", (float(value),))
    if isinstance(value, (str, bytes, bytearray)):
        return Value("text", (repr(value[:300]),))
    if value is None:
        return Value("None")
    if isinstance(value, torch.Size):
        return Value("shape", shape=tuple(value))
    if isinstance(value, Mapping) and len(value) <= parts:
        return Value("dict", tuple(Value("pair", (inner(k), inner(v))) for k, v in value.items()))
    if isinstance(value, (list, tuple, deque)) and len(value) <= parts:
        kind = "tuple" if isinstance(value, tuple) else "list"
        return Value(kind, tuple(map(inner, value)))
    if isinstance(value, AbstractSet) and len(value) <= parts:
        return Value("set", tuple(sorted(map(inner, value), key=repr)))
    return Value("other")


def _seen_tensor(tensor: Tensor, most: int) -> Value:
    if tensor.is_complex() or tensor.is_quantized or tensor.layout != torch.strided:
        return Value("other")
    kind = "float" if tensor.is_floating_point() else "bool" if tensor.dtype == torch.bool else "int"
    numbers = tuple(tensor.flatten().tolist()) if 0 < tensor.numel() <= most else ()
    return Value(f"{kind} tensor", numbers, tuple(tensor.shape))


def is_tensor(value: Value) -> bool:
    """Return whether a value is a tensor, or an array of numpy, of any dtype."""
    return value.kind.endswith((" tensor", " array"))


def same(a: Value, b: Value) -> bool | None:
    """Return whether two outcomes are equal, or None if a person could dispute it.

    The same numbers as list and tensor, or as int and float, are disputed. The order of a dict's keys does not matter.
    """
    if not (a.is_asked and b.is_asked):
        return None
    if "error" in (a.kind, b.kind):
        return False if a.kind != b.kind else (True if a.parts == b.parts else None)
    if is_tensor(a) and is_tensor(b):
        return _same_tensors(a, b)
    if a.kind != b.kind:
        alike = ({"int", "float", "bool"}, {"list", "tuple", "set", "shape"})
        numbers = {a.kind.split()[0], b.kind.split()[0]}
        return None if numbers <= alike[0] or {a.kind, b.kind} <= alike[1] else False
    if a.kind == "dict":
        by_key = [{said(pair.parts[0]): pair.parts[1] for pair in one.parts} for one in (a, b)]
        return by_key[0].keys() == by_key[1].keys() and _all(same(by_key[0][k], by_key[1][k]) for k in by_key[0])
    if a.kind in ("int", "float"):
        return _close(a.parts[0], b.parts[0])
    if a.parts and isinstance(a.parts[0], Value):
        return len(a.parts) == len(b.parts) and _all(map(same, a.parts, b.parts))
    return a.parts == b.parts and a.shape == b.shape


def _same_tensors(a: Value, b: Value) -> bool | None:
    if a.shape != b.shape:
        return False
    if len(a.parts) != math.prod(a.shape) or len(b.parts) != len(a.parts):
        return None
    found = _all(_close(float(x), float(y)) for x, y in zip(a.parts, b.parts, strict=True))
    return found if a.kind.split()[0] == b.kind.split()[0] or found is False else None


def _all(found: Iterable[bool | None]) -> bool | None:
    """Return False if one is false, else None if one is open, else True."""
    results = list(found)
    return False if False in results else None if None in results else True


def _close(a: float, b: float) -> bool | None:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    distance = abs(a - b) / (1 + min(abs(a), abs(b)))
    return True if distance <= EQUAL else False if distance >= DIFFERENT else None


def form(value: Value) -> tuple[Any, ...]:
    """Return what a value looks like apart from its numbers: kind, shape and nesting."""
    if value.kind == "list":
        return ("list", form(value.parts[0]) if value.parts else None)
    if value.kind == "tuple":
        return ("tuple", *map(form, value.parts))
    return (value.kind, value.shape if is_tensor(value) else None)


def said(value: Value) -> str:
    """Return a value as text with at most three decimals, as short as Python would write it."""
    kind, parts = value.kind, value.parts
    if is_tensor(value):
        return _said_tensor(value)
    if kind == "shape":
        return said_shape(value.shape)
    if kind == "dict":
        return "{" + ", ".join(f"{said(pair.parts[0])}: {said(pair.parts[1])}" for pair in parts) + "}"
    if kind in ("list", "tuple", "set"):
        inner = ", ".join(map(said, parts)) + ("," if kind == "tuple" and len(parts) == 1 else "")
        return {"list": f"[{inner}]", "tuple": f"({inner})", "set": f"{{{inner}}}" if parts else "set()"}[kind]
    if kind == "error":
        return "It stops with an error."
    if kind == "float":
        number = _number(parts[0])
        return number + "0" if number.endswith(".") else number
    return str(parts[0]) if parts else kind


def said_shape(shape: Sequence[int]) -> str:
    """Return a shape as Python writes a tuple."""
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def _said_tensor(value: Value) -> str:
    if value.shape == (0,):
        return f"{value.kind.split()[1]}([])"
    if 0 in value.shape:
        return f"tensor of shape {said_shape(value.shape)} without numbers"
    if not value.parts:
        return f"tensor of shape {said_shape(value.shape)}"
    dtype, word = value.kind.split()
    rows = [_number(number) if dtype == "float" else str(number) for number in value.parts]
    for size in reversed(value.shape):
        rows = [f"[{', '.join(rows[k : k + size])}]" for k in range(0, len(rows), size)]
    return f"{word}({rows[0]})"


def _number(number: float) -> str:
    if not math.isfinite(number):
        return str(number)
    if abs(number) >= 1e6:
        return f"{number:.0e}".replace("e+", "e")
    rounded = round(number, 3) + 0.0
    if rounded == int(rounded):
        return f"{int(rounded)}."
    return f"{rounded:g}" if abs(rounded) < 1000 else f"{rounded:.1f}"


_LOGARITHMS = {round(k * math.log(2) / d, 3) for k in (1, 2, 3, -1, -2) for d in (1, 2, 4)}


def is_easy(value: Value) -> bool:
    """Return whether a person comes to this value without a calculator."""
    if is_tensor(value):
        if len(value.parts) != math.prod(value.shape) or len(value.parts) > MOST_EASY:
            return False
        return all(map(_is_easy, value.parts))
    if value.kind in ("list", "tuple", "set", "dict"):
        return len(value.parts) <= 12 and all(map(is_easy, value.parts))
    if value.kind == "pair":
        return all(map(is_easy, value.parts))
    return _is_easy(value.parts[0]) if value.kind in ("int", "float") else value.kind != "other"


def _is_easy(number: float) -> bool:
    if not math.isfinite(number) or round(number, 3) in _LOGARITHMS:
        return True
    if abs(number) > 20:
        return abs(number) < 10_000 and abs(number - round(number)) < 1e-4
    return any(abs(number * d - round(number * d)) < 2e-3 for d in (1, 2, 3, 4, 8, 10))
