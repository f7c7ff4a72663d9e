"""Laws by name: what a law is, and how one is asked.

A law gets the outputs of one case (name -> plain value) and returns an empty string when it holds, else one sentence
for the student. A key stores a law as its name and parameters, so parameters are plain values and tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..script import LawUse, are_gradients
from .measure import CALLED, FULL, Measure
from .plain import kinds

EXPECTED = "what the reference did"
"""The name under which the judge lays the reference's own outputs of the case beside those that are examined."""

NO_RETURN = "your code returned None. Is a `return` missing?"

Outputs = Mapping[str, Any]
_NOT_OF_THE_KIND = (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError, OverflowError)
"""What a law raises over outputs that it cannot look at."""


@dataclass(frozen=True)
class Law:
    """A predicate; for laws of chance the table of counts it looks at; whether it looks at the reference's, too.

    `measure` is what it holds against a bar, where that is a number worth showing.
    """

    holds: Callable[..., str]
    counts: Callable[..., Tensor] | None = None
    relative: bool = False
    measure: Measure | None = None


class Unreadable(ValueError):
    """What a law cannot look at, and why: the message is the sentence for the student."""


LAWS: dict[str, Law] = {}


def law(function: Callable[..., str]) -> Callable[..., str]:
    """Registers a law under its function's name."""
    return law_with()(function)


def law_with(
    counts: Callable[..., Tensor] | None = None, *, relative: bool = False, measure: Measure | None = None
) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register a law of chance, with the table of `counts` it looks at, or one with another part of `Law`."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        LAWS[function.__name__] = Law(function, counts, relative, measure)
        return function

    return register


def params_of(use: LawUse) -> dict[str, Any]:
    """The parameters that the law itself gets."""
    return {name: value for name, value in use.params.items() if name not in (FULL, CALLED)}


def measured(use: LawUse, outputs: Outputs) -> str:
    """What the law measured, and its bars; empty where `Case.shows` does not ask for it, or nothing can be measured."""
    measure = LAWS[use.name].measure
    if measure is None or FULL not in use.params:
        return ""
    try:
        return measure.sentence(outputs, use.params)
    except _NOT_OF_THE_KIND:
        return ""


def broken(use: LawUse, outputs: Outputs) -> str:
    """Why the law does not hold for `outputs`; empty when it does."""
    try:
        return LAWS[use.name].holds(outputs, **params_of(use))
    except Unreadable as why:
        return str(why)
    except _NOT_OF_THE_KIND:
        pass
    of = use.params.get("of", "out")
    of = of[0] if isinstance(of, list) else of
    of_gradients = are_gradients(of)
    if of in outputs and outputs[of] is None:
        return "no gradient flows back from the result" if of_gradients else NO_RETURN
    what = "the gradient" if of_gradients else "your result"
    return f"the check cannot read {what}, which is {kinds(outputs.get(of))}. {_asked(use)}"


def _asked(use: LawUse) -> str:
    """What the task asks for in place of what a law cannot look at, as the second sentence."""
    if meaning := use.params.get("meaning"):
        return f"The task asks for {meaning}"
    because: str = use.params.get("because", "") if use.name == "shape_is" else ""
    return f"{because[:1].upper()}{because[1:]}" if because else "Compare it with what the task asks for"


def examined(use: LawUse, outputs: Outputs) -> str | None:
    """The same; None for outputs that are not of a kind that the law can look at."""
    try:
        return LAWS[use.name].holds(outputs, **params_of(use))
    except _NOT_OF_THE_KIND:
        return None


def counts(use: LawUse, outputs: Outputs) -> Tensor | None:
    """The table of counts behind a law of chance, (rows, K); None for other laws and for unusable outputs."""
    table = LAWS[use.name].counts
    try:
        return None if table is None else table(outputs, **params_of(use))
    except _NOT_OF_THE_KIND:
        return None


def relative(use: LawUse) -> bool:
    """Whether the law looks at the reference's own outputs as well, under `EXPECTED`.

    Raises:
        ValueError: there is no such law.
    """
    if use.name not in LAWS:
        raise ValueError(f"no law is called {use.name!r}")
    return LAWS[use.name].relative
