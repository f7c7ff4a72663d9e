"""Register laws by name, and apply them to outputs.

A law takes the outputs of one case (name -> plain value) and returns an empty string if it holds, else one sentence
for the student. A key stores a law by its name and parameters, so parameters are plain values and tensors.
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
"""The name under which the judge adds the reference's outputs of the case to the examined ones."""

NO_RETURN = "your code returned None. Is a `return` missing?"

Outputs = Mapping[str, Any]
_NOT_OF_THE_KIND = (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError, OverflowError)
"""Errors that a law raises for outputs of the wrong kind."""


@dataclass(frozen=True)
class Law:
    """A law: its predicate, the table of counts of a law of chance, and whether it needs the reference's outputs.

    `measure` measures the number that it compares with a bar, if that number is worth showing.
    """

    holds: Callable[..., str]
    counts: Callable[..., Tensor] | None = None
    relative: bool = False
    measure: Measure | None = None


class Unreadable(ValueError):
    """Output that a law cannot examine. The message is the sentence for the student."""


LAWS: dict[str, Law] = {}


def law(function: Callable[..., str]) -> Callable[..., str]:
    """Register a law under its function's name."""
    return law_with()(function)


def law_with(
    counts: Callable[..., Tensor] | None = None, *, relative: bool = False, measure: Measure | None = None
) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Register a law of chance with its table of `counts`, or a law with other fields of `Law` set."""

    def register(function: Callable[..., str]) -> Callable[..., str]:
        LAWS[function.__name__] = Law(function, counts, relative, measure)
        return function

    return register


def params_of(use: LawUse) -> dict[str, Any]:
    """Return the parameters that are passed to the law itself."""
    return {name: value for name, value in use.params.items() if name not in (FULL, CALLED)}


def measured(use: LawUse, outputs: Outputs) -> str:
    """Return what the law measured and its bars. Empty if `Case.shows` was not called or nothing can be measured."""
    measure = LAWS[use.name].measure
    if measure is None or FULL not in use.params:
        return ""
    try:
        return measure.sentence(outputs, use.params)
    except _NOT_OF_THE_KIND:
        return ""


def broken(use: LawUse, outputs: Outputs) -> str:
    """Return why the law does not hold for `outputs`, or an empty string if it does."""
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
    """Return a second sentence that says what the task asks for instead of an output that a law cannot examine."""
    if meaning := use.params.get("meaning"):
        return f"The task asks for {meaning}"
    because: str = use.params.get("because", "") if use.name == "shape_is" else ""
    return f"{because[:1].upper()}{because[1:]}" if because else "Compare it with what the task asks for"


def examined(use: LawUse, outputs: Outputs) -> str | None:
    """Return why the law does not hold, or an empty string, or None for outputs that it cannot examine."""
    try:
        return LAWS[use.name].holds(outputs, **params_of(use))
    except _NOT_OF_THE_KIND:
        return None


def counts(use: LawUse, outputs: Outputs) -> Tensor | None:
    """Return the table of counts of a law of chance, (rows, K), or None for other laws and unusable outputs."""
    table = LAWS[use.name].counts
    try:
        return None if table is None else table(outputs, **params_of(use))
    except _NOT_OF_THE_KIND:
        return None


def relative(use: LawUse) -> bool:
    """Return whether the law also needs the reference's outputs, under `EXPECTED`.

    Raises:
        ValueError: there is no such law.
    """
    if use.name not in LAWS:
        raise ValueError(f"no law is called {use.name!r}")
    return LAWS[use.name].relative
