"""Count the bytes of tensors that an object holds: in parameters, attributes, lists, dicts and closures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CellType, ModuleType
from typing import Any

from torch import Tensor

_NOTHING_INSIDE = (type, ModuleType, str, bytes, int, float, complex, type(None))


def bytes_held(thing: Any) -> int:
    """Return the bytes of all tensors reachable from `thing`. Each storage counts once, and fully even for a view."""
    memories = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in _tensors(thing)}
    return sum(memories.values())


def _tensors(thing: Any) -> Iterator[Tensor]:
    todo, seen = [thing], {}
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _NOTHING_INSIDE):
            continue
        seen[id(one)] = one  # a reference, so that no other object gets the same id
        if isinstance(one, Tensor):
            yield one
        else:
            todo += _parts(one)


def _parts(thing: Any) -> list[Any]:
    """Return the parts of an object: a container's items, a function's closure, or the attributes of anything else."""
    if isinstance(thing, Mapping):
        return [*thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return [*thing]
    if isinstance(thing, CellType):
        return [thing.cell_contents] if thing != CellType() else []
    inside = [getattr(thing, name, None) for name in ("__closure__", "__self__", "__defaults__", "func", "args")]
    return [*inside, *getattr(thing, "__dict__", {}).values()]
