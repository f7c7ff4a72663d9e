"""A question with four choices, as plain data, and a draft of one with what must hold for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .executing import Run
from .outcomes import Value, is_tensor
from .watching import Event

LAST_RESORT = 9.0
"""What a draft's score loses if it is asked only where there is too little else. Its score is below 0 then."""


@dataclass(frozen=True)
class Choice:
    """A choice and the reason why it is right or wrong. In both, code stands between backticks."""

    text: str
    reason: str


@dataclass(frozen=True)
class Question:
    """A question about an answer. In `text`, the lines that begin with four spaces are code.

    `code` is the part of the answer that the question is about, with the numbers of its lines. `key` is the position
    of the right choice.
    """

    kind: str
    about: str
    code: str
    text: str
    choices: tuple[Choice, ...]
    key: int

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for `from_plain`."""
        return {**vars(self), "choices": [[choice.text, choice.reason] for choice in self.choices]}

    @classmethod
    def from_plain(cls, plain: Any) -> Question:
        """Return the question that `to_plain` wrote.

        Raises:
            KeyError, TypeError, ValueError: it wrote no such thing.
        """
        choices = tuple(Choice(str(text), str(reason)) for text, reason in plain["choices"])
        if len(choices) != 4 or plain["key"] not in range(4):
            raise ValueError("a question has four choices and a key")
        kind, about, code, text = (str(plain[name]) for name in ("kind", "about", "code", "text"))
        return cls(kind, about, code, text, choices, plain["key"])


@dataclass(frozen=True)
class Moment:
    """When to look at a variable: right after it has been set for the `nth` time. `shape` asks for its shape only."""

    name: str
    nth: int
    shape: bool = False

    def value_in(self, events: Iterable[Event | None]) -> Value | None:
        """Return the variable at this moment of a run, or None if the moment does not come."""
        sets = [event.value for event in events if event and event.name == self.name]
        value = sets[self.nth - 1] if len(sets) >= self.nth else None
        if value and self.shape:
            return Value("shape", shape=value.shape) if is_tensor(value) else None
        return value


@dataclass(frozen=True)
class Claim:
    """Something that a question rests on: what a run gives, or what a variable is at a moment of it."""

    run: Run
    outcome: Value
    moment: Moment | None = None


@dataclass(frozen=True)
class Option:
    """A choice in the making: its text, its reason and the claims behind it."""

    text: str
    reason: str
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True)
class Draft:
    """A question that is not confirmed yet, its claims, and what counts in the choice of questions.

    `asked` is the claim that answers it, and `changed` are the changed sources that it is about.
    """

    question: Question
    claims: tuple[Claim, ...]
    score: float
    line: int
    call: str
    asked: Claim
    changed: frozenset[str]
