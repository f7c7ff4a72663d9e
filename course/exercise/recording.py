"""Recordings: the outputs of a script's steps, a raised error, changed arguments and forbidden calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .values import Malformed


@dataclass(frozen=True)
class Raised:
    """An exception in the answer: its types, the most specific first, its message, and the answer's own line."""

    types: tuple[str, ...]
    message: str
    line: str = ""
    step: str = ""

    @property
    def name(self) -> str:
        """Return the most specific type."""
        return self.types[0] if self.types else "Exception"


@dataclass(frozen=True)
class Recording:
    """The record of one run of one script.

    `outputs` maps each step's `into` to its plain value. `mutated` names the arguments that a step changed
    (`"out: x"`), and `watched` the forbidden calls that were made.
    """

    outputs: dict[str, Any] = field(default_factory=dict)
    raised: Raised | None = None
    mutated: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_plain(self) -> dict[str, Any]:
        """Return a dict of values that `values.encode` accepts."""
        raised = self.raised
        return {
            "outputs": dict(self.outputs),
            "raised": None if raised is None else [list(raised.types), raised.message, raised.line, raised.step],
            "mutated": list(self.mutated),
            "watched": list(self.watched),
            "seconds": self.seconds,
        }

    @classmethod
    def from_plain(cls, values: Any) -> Recording:
        """Return the recording from the output of `to_plain`. The message may come from anywhere.

        Raises:
            Malformed: the values are not a recording.
        """
        try:
            if not isinstance(values, dict):
                raise TypeError("an object was expected")
            raised = values["raised"]
            if raised is not None:
                types, message, line, step = raised
                raised = Raised(tuple(_word(t) for t in types[:20]), _word(message), _word(line), _word(step))
            outputs = values["outputs"]
            if not isinstance(outputs, dict) or not all(isinstance(name, str) for name in outputs):
                raise TypeError("outputs are named by strings")
            return cls(
                outputs,
                raised,
                tuple(_word(name) for name in values["mutated"][:50]),
                tuple(_word(name) for name in values["watched"][:50]),
                float(values["seconds"]),
            )
        except Exception as error:  # noqa: BLE001 - a tensor in place of a list may raise any error
            raise Malformed(f"no recording: {str(error)[:120]}") from None


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a string was expected")
    return value[:2000]
