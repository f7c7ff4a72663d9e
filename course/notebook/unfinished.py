"""A sentence on a training that a time limit ended before its last example, for `fit`, `check` and grading."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakKeyDictionary

from ..judge.verdict import Verdict

StoppedBy = Literal["", "processor time", "clock"]
"""What ended a training: its own loop or the last of its examples, the processor time it had, or the clock."""

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
"""What a limit is called, and what to do about it."""

LITTLE_KNOWN = "Until the training reaches its end, a low score says little about your code."

_said: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""What is to be said of a model's training, where a clock ended it."""


def unfinished(facts: Mapping[str, Any]) -> str:
    """Say which limit ended a training and after how many examples; empty where none did, or `facts` are spoiled.

    Args:
        facts: what `Record.facts` holds, as it stands in a checkpoint too, which is a student's file.
    """
    limit, advice = _LIMITS.get(str(facts.get("stopped_by", "")), ("", ""))
    numbers: list[Any] = [facts.get(name) for name in ("examples", "asked", "seconds")]
    if not limit or not all(type(number) in (int, float) and 0 <= number < math.inf for number in numbers):
        return ""
    examples, asked, seconds = numbers
    return f"The training reached {limit} after {examples:,.0f} of {asked:,.0f} examples, in {seconds:.0f} s. {advice}"


def remember(model: object, facts: Mapping[str, Any]) -> str:
    """Keep what `unfinished` says for as long as the model lives, and return it."""
    _said[model] = said = unfinished(facts)
    return said


def said_of(answer: object) -> str:
    """What was remembered of a model; empty for anything else."""
    try:
        return _said.get(answer, "")
    except TypeError:  # which has no hash, or cannot be referred to: no model
        return ""


def judged_early(verdict: Verdict, said: str) -> Verdict:
    """The verdict on a model whose training a clock ended, as `said`: its hint is that, and no mistake in the code."""
    if not said or verdict.kind == "passed":
        return verdict
    return replace(verdict, hint=f"{said} {LITTLE_KNOWN}")
