"""Walk over values that are nested in lists, tuples, dicts and sets."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any


def leaves(value: Any) -> Iterator[Any]:
    """The values within lists, tuples, dicts and the like, in order; of any other, itself. Keys are none of them."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple | deque | set | frozenset):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """A copy of the lists and tuples in `value`, with `function` of everything else in them, dicts included."""
    if isinstance(value, list | tuple):
        return type(value)(mapped(function, item) for item in value)
    return function(value)
