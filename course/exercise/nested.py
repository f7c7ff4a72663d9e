"""Traverse values that are nested in lists, tuples, dicts and sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any


def leaves(value: Any) -> Iterator[Any]:
    """Yield the values within lists, tuples, dicts, sets and deques, in order, without keys. Else yield the value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | deque | set | frozenset):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Copy the lists and tuples in `value`, and apply `function` to everything else in them, also to dicts."""
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, item) for item in value)
    return function(value)
