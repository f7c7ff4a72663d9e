"""Measure the number that a law compares with a bar. `Case.shows` reports it with the bar of full marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

FULL, CALLED = "full", "called"
"""Parameters that are not passed to a law: the bar of full marks, and the name of the measured quantity."""


@dataclass(frozen=True)
class Measure:
    """A measurement of the number that a law compares with the parameter named `bar`.

    `value` takes the outputs and the law's parameters. `at_most` means that less is better, and `is_share` that the
    number is a proportion.
    """

    value: Callable[..., float]
    bar: str = "bar"
    at_most: bool = False
    is_share: bool = True

    def sentence(self, outputs: Mapping[str, Any], params: Mapping[str, Any]) -> str:
        """Return a sentence with the measured number and the bars."""
        own = {name: value for name, value in params.items() if name not in (FULL, CALLED)}
        found, bar, full = self.value(outputs, **own), own[self.bar], params[FULL]
        what = f"{params[CALLED][:1].upper()}{params[CALLED][1:]} is {self._towards_failing(found)}."
        need = f"full marks need {self._bar(full)} at grading"
        if (full >= bar) if self.at_most else (full <= bar):
            return f"{what} F{need[1:]}."
        passes = f"up to {bar:g}" if self.at_most else f"from {self._bar(bar)}"
        return f"{what} The public check passes {passes}, and {need}."

    def _towards_failing(self, found: float) -> str:
        """Round a number so that it never appears to meet a bar that it misses."""
        if not math.isfinite(found):
            return str(found)
        thousandths = (math.ceil if self.at_most else math.floor)(round(found * 1000, 6))
        return f"{thousandths / 10:.1f}%" if self.is_share else f"{thousandths / 1000:.3f}"

    def _bar(self, bar: float) -> str:
        return f"{100 * bar:g}%" if self.is_share else f"{bar:g}{' or less' * self.at_most}"
