"""How many bytes of tensors an object holds: registered or not, in attributes, lists, dicts and closures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import CellType, ModuleType
from typing import Any

from torch import Tensor

_NOTHING_INSIDE = (type, ModuleType, str, bytes, int, float, complex, type(None))


def bytes_held(thing: Any) -> int:
    """The bytes of all tensors that can be reached from `thing`, each memory once, and whole where a view keeps it."""
    memories = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in _tensors(thing)}
    return sum(memories.values())


def _tensors(thing: Any) -> Iterator[Tensor]:
    todo, seen = [thing], {}
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _NOTHING_INSIDE):
            continue
        seen[id(one)] = one  # kept, so that no other object gets its number
        if isinstance(one, Tensor):
            yield one
        else:
            todo += _parts(one)


def _parts(thing: Any) -> list[Any]:
    """What an object holds: a container's members, what a function has closed over, the attributes of the rest."""
    if isinstance(thing, Mapping):
        return [*thing.values()]
    if isinstance(thing, list | tuple | set | frozenset):
        return [*thing]
    if isinstance(thing, CellType):
        return [thing.cell_contents] if thing != CellType() else []
    inside = [getattr(thing, name, None) for name in ("__closure__", "__self__", "__defaults__", "func", "args")]
    return [*inside, *getattr(thing, "__dict__", {}).values()]
