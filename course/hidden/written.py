"""A written question of a topic, for a class whose `course.toml` chooses it.

Each of our topics has three. The first stands in its notebook, with its hints in `question.py`, and the others beside
these as `OTHERS`; so do its criteria, `CRITERIA`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What is asked, a model answer, hints that help to begin, and criteria by which one marks one's own answer.

    No hint and no criterion gives an answer.
    """

    prompt: str
    answer: str
    hints: tuple[str, ...]
    criteria: tuple[str, ...]
