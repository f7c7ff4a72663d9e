"""What students answered, marked with the key, and what chance alone would give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

CHOICES = 4

KNOWS = 0.85
"""The share of right answers of somebody who understands their code, for comparison with chance."""


@dataclass(frozen=True)
class Key:
    """A row of key.csv: a question of a sheet, and the letter of its right choice.

    A grader may correct `right`. With several letters each of them is right, and without one the question counts for
    nobody.
    """

    sheet: str
    student: str
    question: int
    exercise: str
    kind: str
    right: str


@dataclass(frozen=True)
class Marked:
    """A student's answers to a sheet, each with its row of the key. An answer is a letter, or empty."""

    sheet: str
    student: str
    answers: tuple[tuple[Key, str], ...]

    @property
    def counted(self) -> list[tuple[Key, bool]]:
        """Return the questions that count, each with whether the answer is right."""
        return [(key, bool(answer) and answer in key.right) for key, answer in self.answers if key.right]

    @property
    def right(self) -> int:
        """Return the number of right answers."""
        return sum(is_right for _, is_right in self.counted)

    @property
    def share(self) -> float:
        """Return the share of right answers."""
        return self.right / len(self.counted) if self.counted else 0.0

    @property
    def is_weak(self) -> bool:
        """Whether there are no more right answers than chance gives on average."""
        return bool(self.counted) and self.right <= most_weak(len(self.counted))


def most_weak(questions: int) -> int:
    """Return the most right answers that count as weak, which is what chance gives on average."""
    return questions // CHOICES


def best_of_each(marked: Iterable[Marked]) -> dict[str, Marked]:
    """Return each student's best sheet, because a second chance must not harm. Of equal ones the last counts."""
    best: dict[str, Marked] = {}
    for one in marked:
        if one.student not in best or one.share >= best[one.student].share:
            best[one.student] = one
    return best


def at_most(right: int, questions: int, share: float = 1 / CHOICES) -> float:
    """Return the probability of at most so many right answers if each one is right with probability `share`."""
    return sum(comb(questions, k) * share**k * (1 - share) ** (questions - k) for k in range(right + 1))


def said_of_chance(questions: int) -> str:
    """Return what chance alone does on a sheet of so many questions, in percent."""
    weak, strong = most_weak(questions), questions - most_weak(questions)
    few = "none" if not weak else f"at most {weak}"
    many = "all" if strong == questions else f"{strong} or more"
    guessed, knew = at_most(weak, questions), at_most(weak, questions, KNOWS)
    return (
        f"Guessing gets {few} of {questions} right in {_in_100(guessed)} of 100 cases, and {many} in "
        f"{_in_100(1 - at_most(strong - 1, questions))}. Somebody who gets {100 * KNOWS:.0f} of 100 such questions "
        f"right gets {few} of {questions} in {_in_100(knew)} of 100."
    )


def _in_100(probability: float) -> str:
    return f"{100 * probability:.0f}" if probability >= 0.005 else "fewer than 1"
