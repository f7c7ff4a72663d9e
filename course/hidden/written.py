"""A written question of a topic, for a class whose `course.toml` chooses it.

Each of our topics has three. The first stands in its notebook, with its hints in `question.py`, and the others beside
these as `OTHERS`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What is asked, a model answer, and two or three hints that help to begin. No hint gives an answer."""

    prompt: str
    answer: str
    hints: tuple[str, ...]
