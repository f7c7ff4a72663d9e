"""Made-up questions, and a round of sheets in a folder, without a class."""

from __future__ import annotations

from pathlib import Path

from course.grading.viva.round import Round
from course.grading.viva.sheets import Asked, Pool, Sheet, numbered
from course.questions import Choice, Question
from tests.grading.lesson import TOPIC

KINDS = ("trace", "what happens", "tell apart", "find the change")


def question(about: str, number: int, key: int = 0, code: str = "") -> Question:
    """The question with a number about an answer, of which four kinds follow each other."""
    choices = tuple(Choice(f"`{number + place}`", f"Reason {place} of `{about}`.") for place in range(4))
    code = code or f"  1 def {about}(x):\n  2     return x + {number}"
    return Question(KINDS[number % 4], about, code, f"What is `{about}({number})`?", choices, key)


def pool(*exercises: str, each: int = 6) -> Pool:
    """So many questions about each exercise."""
    return {name: tuple(question(name, number) for number in range(each)) for name in exercises}


def sheet(student: str, keys: str, seed: int = 1, known: tuple[str, ...] = ()) -> Sheet:
    """A sheet with the keys, such as `"ABCD"`, about exercises `first`, `second` and so on."""
    names = ("first", "second", "third", "fourth", "fifth", "sixth")
    asked = tuple(Asked(name, question(name, seed, "ABCD".index(key))) for name, key in zip(names, keys, strict=False))
    return numbered(Sheet("", student, asked), f"06-{seed}-", known)


def a_round(root: Path, *sheets: Sheet, seed: int = 1) -> Round:
    """A round whose files hold the sheets."""
    made = Round(root, TOPIC, seed)
    made.save(sheets)
    return made
