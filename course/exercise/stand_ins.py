"""Stand-ins: the callables handed to students, named, with their tensors as parameters, so that they can be sent.

Each maker takes its parameters and returns a callable (or a module).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .values import Malformed, StandIn

MAKERS: dict[str, Callable[..., Any]] = {}


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """Registers a maker under its function's name."""
    MAKERS[function.__name__] = function
    return function


def stand_in(name: str, **parameters: Any) -> StandIn:
    """Describes the stand-in `name`.

    Raises:
        KeyError: there is no stand-in of that name.
    """
    if name not in MAKERS:
        raise KeyError(f"no stand-in is called {name!r}; there are {', '.join(sorted(MAKERS))}")
    return StandIn(name, parameters)


def make(described: StandIn) -> Any:
    """The callable that `described` stands for."""
    if described.name not in MAKERS:
        raise Malformed(f"no stand-in is called {described.name!r}")
    return MAKERS[described.name](**described.parameters)
