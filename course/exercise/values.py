"""Encode values as plain data: a tagged JSON tree, and the tensors that it refers to.

The tree is JSON (`["tuple", [["int", "3"], ["tensor", 0, {...}]]]`), so a tuple is never mistaken for a list nor a
string for a number. The tensors are sent separately. Decoding cannot run code: there is no pickle, and no type is
looked up by name except the described values below, which only the judge sends. A value without a tag is sent as the
name of its type, an `Other`, which cannot be compared.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

MAX_NODES = 200_000
MAX_DEPTH = 40
MAX_DIMENSIONS = 64
"""Largest number of dimensions of a tensor, as in torch's own operations."""
TAGS = {
    "none", "bool", "int", "float", "complex", "fraction", "str", "bytes", "bytearray", "range", "numpy", "tensor",
    "list", "tuple", "deque", "dict", "counter", "set", "frozenset", "generator", "ref", "stand_in", "other",
}  # fmt: skip
"""Tags, the first word of a tree."""
DTYPES = {
    str(dtype): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
        torch.int8, torch.uint8, torch.bool,
    )
}  # fmt: skip


UNCOMPARABLE = {"tensor", "numpy", "other"}
"""Tags of values that equal only themselves. As keys or set members they could never be looked up again."""

CUT = ", too large or too deep to send"
"""End of the type name that replaces a value which the encoder cut off."""


class Malformed(ValueError):
    """A tree that `encode` did not write."""


class TooLarge(ValueError):
    """A value that cannot be sent completely, although nothing may be missing."""


@dataclass(frozen=True)
class Generator:
    """A description of a `torch.Generator` that the runner seeds with `seed`."""

    seed: int


@dataclass(frozen=True)
class Ref:
    """A reference to the result that an earlier step stored under `name` (`"answer"` is the student's own object)."""

    name: str


@dataclass(frozen=True)
class StandIn:
    """A description of a callable from `stand_ins`, built by the runner from its name and its parameters."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Other:
    """A value that cannot be sent. Only the name of its type is known on this side."""

    type_name: str


def encode(value: Any, *, whole: bool = False) -> tuple[list[Any], list[Tensor]]:
    """Return `value` as a tagged tree and the list of tensors that the tree refers to by position.

    A part that is too large or too deep is replaced by the name of its type, unless `whole` is set.

    Raises:
        TooLarge: with `whole`, a part was cut off, now or in an earlier encoding.
    """
    encoder = _Encoder()
    tree = encoder.tree(value, 0)
    if whole and encoder.cut:
        raise TooLarge(encoder.cut)
    return tree, encoder.tensors


def demand_whole(value: Any) -> list[str]:
    """Check that `value` can be sent completely, without copying its tensors. Return the types without a tag.

    Raises:
        TooLarge: a part would be cut off, now or in an earlier encoding.
    """
    measure = _Measure()
    measure.tree(value, 0)
    if measure.cut:
        raise TooLarge(measure.cut)
    return measure.unsent


def decode(tree: Any, tensors: list[Tensor], most: int | None = None) -> Any:
    """Return the value that was encoded, with plain types only and at most `most` bytes of tensors.

    A tensor may be referenced many times or have gaps in its layout, and one without elements can claim any size in its
    other dimensions. `most` bounds the sum of all of that, with a size of 0 counted as 1.

    Raises:
        Malformed: the tree is not one that `encode` writes, or exceeds `most`.
    """
    return _Decoder(tensors, most).value(tree, 0)


def plain(value: Any) -> Any:
    """Return a copy of `value` that shares nothing with it, as the receiver would decode it."""
    return decode(*encode(value))


class _Encoder:
    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.positions: dict[int, int] = {}
        self.keep: list[Any] = []
        self.nodes = 0
        self.cut = ""
        self.unsent: list[str] = []

    def tree(self, value: Any, depth: int) -> list[Any]:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            self.cut = f"{_type_name(value)}{CUT}"
            return ["other", self.cut]
        try:
            if (kind := type(value)) is int or kind is str:  # most values are of these types
                return [kind.__name__, str(value)]
            return self._tree(value, depth)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - a student's object may raise any error
            return self._other(_type_name(value))

    def _tree(self, value: Any, depth: int) -> list[Any]:  # noqa: C901 - one line for each type
        kind = type(value)
        if value is None:
            return ["none"]
        if kind is bool:
            return ["bool", value]
        if kind is list or kind is tuple:
            return [kind.__name__, self._items(value, depth)]
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, np.generic):  # numpy scalars become Python's, also as keys
            return self.tree(value.item(), depth + 1)
        if isinstance(value, np.ndarray):
            return ["numpy", self._place(torch.from_numpy(np.array(value)))]
        if isinstance(value, int):
            return ["int", str(int(value))]
        if isinstance(value, float):
            return ["float", _float_word(float(value))]
        if isinstance(value, complex):
            return ["complex", _float_word(value.real), _float_word(value.imag)]
        if isinstance(value, Fraction):
            return ["fraction", str(value.numerator), str(value.denominator)]
        if isinstance(value, str):
            return ["str", str.__str__(value)]
        if isinstance(value, bytes | bytearray):
            return [_name_of(value, bytes, bytearray), base64.b64encode(bytes(value)).decode()]
        if kind is range:
            return ["range", *map(str, (value.start, value.stop, value.step))]
        if isinstance(value, Generator):
            return ["generator", value.seed]
        if isinstance(value, Ref):
            return ["ref", value.name]
        if isinstance(value, StandIn):
            return ["stand_in", value.name, self.tree(dict(value.parameters), depth + 1)]
        if isinstance(value, Other):
            self.cut = value.type_name if value.type_name.endswith(CUT) else self.cut
            return self._other(value.type_name)
        if isinstance(value, dict):
            return self._pairs(value, depth)
        if isinstance(value, set | frozenset):
            return self._members(value, depth)
        if isinstance(value, list | tuple):
            return [_name_of(value, list, tuple), self._items(value, depth)]
        if isinstance(value, deque):
            return ["deque", self._items(value, depth), value.maxlen]
        return self._other(_type_name(value))

    def _items(self, value: Iterable[Any], depth: int) -> list[Any]:
        return [self.tree(item, depth + 1) for item in value]

    def _pairs(self, value: dict[Any, Any], depth: int) -> list[Any]:
        pairs = [[self.tree(key, depth + 1), self.tree(item, depth + 1)] for key, item in list(dict.items(value))]
        name = "counter" if isinstance(value, Counter) else "dict"
        return self._found_by([key for key, _ in pairs], value) or [name, pairs]

    def _members(self, value: set[Any] | frozenset[Any], depth: int) -> list[Any]:
        members = sorted(self._items(value, depth), key=json.dumps)
        return self._found_by(members, value) or [_name_of(value, set, frozenset), members]

    def _found_by(self, keys: Iterable[list[Any]], value: Any) -> list[Any]:
        """Return an `other` instead of a dict or set with a key or member that could not be looked up, else nothing."""
        lost = any(map(_is_uncomparable, keys))
        return self._other(f"{_type_name(value)} with a key or a member that equals nothing else") if lost else []

    def _other(self, name: str) -> list[Any]:
        self.unsent.append(name)
        return ["other", name]

    def _tensor(self, value: Tensor) -> list[Any]:
        with torch._C.DisableTorchFunctionSubclass():
            facts: dict[str, Any] = {"requires_grad": bool(value.requires_grad)}
            if value.layout != torch.strided:
                value = value.to_dense()
            if value.device.type == "meta" or str(value.dtype) not in DTYPES:
                return self._other(f"tensor of {value.dtype} on {value.device}")
            if isinstance(value, torch.nn.Parameter):
                facts["parameter"] = True
            if not value.is_contiguous():
                facts["strides"] = list(value.stride())
            return ["tensor", self._place(value), facts]

    def _place(self, value: Tensor) -> int:
        if id(value) not in self.positions:
            self.positions[id(value)] = len(self.tensors)
            self.keep.append(value)
            copy = value.detach().as_subclass(Tensor).cpu()
            self.tensors.append(torch.clone(copy, memory_format=torch.contiguous_format))
        return self.positions[id(value)]


class _Measure(_Encoder):
    """An encoder that does not copy tensors."""

    def _place(self, value: Tensor) -> int:
        return 0


class _Decoder:
    def __init__(self, tensors: list[Tensor], most: int | None) -> None:
        self.tensors, self.most = tensors, most
        self.nodes = self.bytes = 0

    def value(self, tree: Any, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > 2 * MAX_NODES or depth > MAX_DEPTH + 2:
            raise Malformed("the message holds too many values, or they are nested too deeply")
        if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
            raise Malformed(f"no tagged value: {str(tree)[:60]}")
        if tree[0] not in TAGS:
            raise Malformed(f"no value has the tag {tree[0][:40]!r}")
        try:
            return getattr(self, f"_{tree[0]}")(depth + 1, *tree[1:])
        except Malformed:
            raise
        except (TypeError, ValueError, KeyError, IndexError, RuntimeError, OverflowError, AttributeError) as error:
            raise Malformed(f"a broken {tree[0]}: {str(error)[:120]}") from None

    def _none(self, depth: int) -> None:
        return None

    def _bool(self, depth: int, value: Any) -> bool:
        return value is True

    def _int(self, depth: int, value: str) -> int:
        if len(value) > 4000:
            raise Malformed("an integer of more than 4000 digits")
        return int(value)

    def _float(self, depth: int, value: Any) -> float:
        return float(value)

    def _complex(self, depth: int, real: Any, imaginary: Any) -> complex:
        return complex(float(real), float(imaginary))

    def _fraction(self, depth: int, numerator: str, denominator: str) -> Fraction:
        try:
            return Fraction(self._int(depth, numerator), self._int(depth, denominator))
        except ZeroDivisionError:
            raise Malformed("a fraction of zero parts") from None

    def _str(self, depth: int, value: Any) -> str:
        return _writable(value)

    def _bytes(self, depth: int, value: str) -> bytes:
        return base64.b64decode(value, validate=True)

    def _bytearray(self, depth: int, value: str) -> bytearray:
        return bytearray(self._bytes(depth, value))

    def _range(self, depth: int, *bounds: str) -> range:
        return range(*(self._int(depth, bound) for bound in bounds))

    def _generator(self, depth: int, seed: int) -> Generator:
        return Generator(int(seed))

    def _ref(self, depth: int, name: str) -> Ref:
        return Ref(str(name))

    def _stand_in(self, depth: int, name: str, parameters: Any) -> StandIn:
        return StandIn(str(name), self.value(parameters, depth))

    def _other(self, depth: int, name: Any) -> Other:
        return Other(_writable(name)[:200])

    def _counter(self, depth: int, pairs: Any) -> Counter[Any]:
        return Counter(self._dict(depth, pairs))

    def _dict(self, depth: int, pairs: Any) -> dict[Any, Any]:
        return {self.value(key, depth): self.value(item, depth) for key, item in pairs}

    def _list(self, depth: int, items: Any) -> list[Any]:
        return [self.value(item, depth) for item in items]

    def _tuple(self, depth: int, items: Any) -> tuple[Any, ...]:
        return tuple(self.value(item, depth) for item in items)

    def _deque(self, depth: int, items: Any, most: int | None) -> deque[Any]:
        return deque(self._list(depth, items), most)

    def _set(self, depth: int, items: Any) -> set[Any]:
        return set(self._list(depth, items))

    def _frozenset(self, depth: int, items: Any) -> frozenset[Any]:
        return frozenset(self._list(depth, items))

    def _numpy(self, depth: int, position: int) -> np.ndarray:
        return self._placed(position).numpy()

    def _tensor(self, depth: int, position: int, facts: dict[str, Any]) -> Tensor:
        tensor = self._placed(position)
        strides = facts.get("strides")
        if strides is not None:
            tensor = self._strided(tensor, [int(stride) for stride in strides])
        if facts.get("parameter"):
            return torch.nn.Parameter(tensor, requires_grad=bool(facts.get("requires_grad")))
        return tensor.requires_grad_(bool(facts.get("requires_grad")) and tensor.is_floating_point())

    def _placed(self, position: Any) -> Tensor:
        if not isinstance(position, int) or not 0 <= position < len(self.tensors):
            raise Malformed(f"tensor number {str(position)[:40]} is not in the message")
        tensor = self.tensors[position]
        if tensor.dim() > MAX_DIMENSIONS:
            raise Malformed(f"a tensor of {tensor.dim()} dimensions")
        self._count(math.prod(max(size, 1) for size in tensor.shape) * tensor.itemsize)
        return tensor.clone()

    def _count(self, size: int) -> None:
        """Add to the number of bytes that the tree asks for, and raise Malformed beyond the limit."""
        self.bytes += size
        if self.most is not None and self.bytes > self.most:
            raise Malformed(f"the tensors of a message ask for more than {self.most} bytes")

    def _strided(self, tensor: Tensor, strides: list[int]) -> Tensor:
        """Lay `tensor` out with `strides` if that takes at most 16 times its memory, else return it unchanged."""
        fits = len(strides) == tensor.dim() and all(stride >= 0 for stride in strides)
        extent = 1 + sum(stride * (size - 1) for stride, size in zip(strides, tensor.shape, strict=False) if size > 0)
        overlaps = any(stride == 0 and size > 1 for stride, size in zip(strides, tensor.shape, strict=False))
        if not fits or overlaps or extent > 16 * max(tensor.numel(), 1):
            return tensor
        self._count(extent * tensor.itemsize)
        laid_out = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype)
        return laid_out.copy_(tensor)


def _writable(value: Any) -> str:
    """Replace lone surrogates, which JSON accepts, because no text file could store them."""
    return str(value).encode("utf-8", "replace").decode()


def _is_uncomparable(tree: list[Any]) -> bool:
    return tree[0] in UNCOMPARABLE or (tree[0] in ("tuple", "frozenset") and any(map(_is_uncomparable, tree[1])))


def _name_of(value: Any, *kinds: type) -> str:
    """Return the tag of the first of `kinds` of which `value` is an instance."""
    return next(kind.__name__ for kind in kinds if isinstance(value, kind))


def _float_word(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)


def _type_name(value: Any) -> str:
    kind = type(value)
    return str(getattr(kind, "__qualname__", getattr(kind, "__name__", "?")))[:120]
