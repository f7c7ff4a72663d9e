"""Predictions: a student guesses the result of a cell before running it. They earn no points.

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
"""Least and greatest number of choices of a prediction."""

LETTERS = "abcd"
"""Labels of the choices."""


@dataclass(frozen=True)
class Choice:
    """One of several answers, and the reply to it: why it is right, or what it overlooks."""

    text: str
    reply: str
    is_right: bool


def right(text: str, reply: str) -> Choice:
    """Make the right choice, with its reason."""
    return Choice(text, reply, is_right=True)


def wrong(text: str, reply: str) -> Choice:
    """Make a wrong choice, with what it overlooks."""
    return Choice(text, reply, is_right=False)


@dataclass(frozen=True, init=False)
class Prediction:
    """A question with its choices, in the order of display."""

    name: str
    question: str
    choices: tuple[Choice, ...]

    def __init__(self, name: str, question: str, *choices: Choice) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "question", question)
        object.__setattr__(self, "choices", choices)

    def faults(self) -> Iterator[str]:
        """Yield one sentence for each fault that the author must fix."""
        if not FEWEST <= len(self.choices) <= MOST:
            yield f"the prediction {self.name!r} has {len(self.choices)} choices. Give it {FEWEST} or {MOST}"
        if (number := sum(choice.is_right for choice in self.choices)) != 1:
            yield f"the prediction {self.name!r} has {number} right choices. Give it one"
        if not self.question or any(not choice.text or not choice.reply for choice in self.choices):
            yield f"the prediction {self.name!r} has an empty text. Write its question, its choices and each reply"

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for `from_plain`."""
        choices = [[choice.text, choice.reply, choice.is_right] for choice in self.choices]
        return {"name": self.name, "question": self.question, "choices": choices}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Prediction:
        """Return the prediction from the output of `to_plain`.

        Raises:
            KeyError, TypeError: the values have another form.
        """
        return cls(plain["name"], plain["question"], *(Choice(*choice) for choice in plain["choices"]))
