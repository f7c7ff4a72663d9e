"""Predictions: what a student expects of a cell before running it. They earn no points.

Prediction(
    "scores_without_scaling",
    "Queries and keys of 64 numbers, each of variance 1. About how large is a product of two of them?",
    right("8", "It sums 64 terms of variance 1, so its deviation is the root of 64."),
    wrong("1", "One term has a deviation of 1. How many of them are added up?"),
    wrong("64", "That is the variance. The size of a typical value is its root."),
)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

FEWEST, MOST = 3, 4
"""How many choices a prediction may have."""

LETTERS = "abcd"
"""What choices are called."""


@dataclass(frozen=True)
class Choice:
    """One of several answers, and the reply to whoever takes it: why it is right, or what it overlooks."""

    text: str
    reply: str
    is_right: bool


def right(text: str, reply: str) -> Choice:
    """The right choice, with the reason."""
    return Choice(text, reply, is_right=True)


def wrong(text: str, reply: str) -> Choice:
    """A wrong choice, with what it overlooks."""
    return Choice(text, reply, is_right=False)


@dataclass(frozen=True, init=False)
class Prediction:
    """A question with its choices, in the order in which they are shown."""

    name: str
    question: str
    choices: tuple[Choice, ...]

    def __init__(self, name: str, question: str, *choices: Choice) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "question", question)
        object.__setattr__(self, "choices", choices)

    def faults(self) -> Iterator[str]:
        """What an author has to mend, a sentence each."""
        if not FEWEST <= len(self.choices) <= MOST:
            yield f"the prediction {self.name!r} has {len(self.choices)} choices. Give it {FEWEST} or {MOST}"
        if (number := sum(choice.is_right for choice in self.choices)) != 1:
            yield f"the prediction {self.name!r} has {number} right choices. Give it one"
        if not self.question or any(not choice.text or not choice.reply for choice in self.choices):
            yield f"the prediction {self.name!r} has an empty text. Write its question, its choices and each reply"

    def to_plain(self) -> dict[str, Any]:
        """What `from_plain` reads."""
        choices = [[choice.text, choice.reply, choice.is_right] for choice in self.choices]
        return {"name": self.name, "question": self.question, "choices": choices}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Prediction:
        """The prediction that `to_plain` wrote down.

        Raises:
            KeyError, TypeError: this is none.
        """
        return cls(plain["name"], plain["question"], *(Choice(*choice) for choice in plain["choices"]))
