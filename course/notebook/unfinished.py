"""Say that a time limit ended a training before its last example, for `fit`, `check` and grading."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

from ..judge.verdict import Verdict

StoppedBy = Literal["", "processor time", "clock"]
"""The limit that ended a training: none, its processor time, or its elapsed time."""

_LIMITS = {
    "processor time": (
        "its limit of processor time",
        "Use a faster machine or a GPU, or do less in each step, and run the cell with `fit` again.",
    ),
    "clock": (
        "its limit on the clock",
        "The machine was busy, or the loop waits for something. Run the cell with `fit` again when it is free.",
    ),
}
"""The name of each limit, and advice for it."""

LITTLE_KNOWN = "Until the training reaches its end, a low score says little about your code."

_said: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""Messages about models whose training a time limit ended."""


def unfinished(facts: Mapping[str, Any]) -> str:
    """Say which limit ended a training and after how many examples. Empty if none did, or if `facts` are damaged.

    Args:
        facts: from `Record.facts`, possibly by way of a checkpoint, which a student can edit.
    """
    limit, advice = _LIMITS.get(str(facts.get("stopped_by", "")), ("", ""))
    numbers: list[Any] = [facts.get(name) for name in ("examples", "asked", "seconds")]
    if not limit or not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
        return ""
    examples, asked, seconds = numbers
    return f"The training reached {limit} after {examples:,.0f} of {asked:,.0f} examples, in {seconds:.0f} s. {advice}"


def remember(model: object, facts: Mapping[str, Any]) -> str:
    """Store the message of `unfinished` for the lifetime of the model, and return it."""
    _said[model] = said = unfinished(facts)
    return said


def said_of(answer: object) -> str:
    """Return the message stored for a model, or an empty string for anything else."""
    try:
        return _said.get(answer, "")
    except TypeError:  # not hashable or without weak references, so no model
        return ""


def judged_early(verdict: Verdict, said: str) -> Verdict:
    """Return the verdict on a model whose training a time limit ended, with the message `said` as its only hint."""
    if not said or verdict.kind == "passed":
        return verdict
    return replace(verdict, hint=f"{said} {LITTLE_KNOWN}")
