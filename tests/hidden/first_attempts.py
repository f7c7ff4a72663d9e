"""What `check` says to the first attempts of a beginner. `python -m tests.hidden.first_attempts 01` prints a table.

A module of `tests/hidden/mutants` may have `FIRST_ATTEMPTS`, wrong answers with words that each has to hear, from
`check` and at grading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from course.judge.report import headline, text
from course.notebook.checking import public_verdict
from course.syllabus import Topic
from tests.original import find_topic


def first_attempts(topic: Topic, exercise: str) -> dict[Callable[..., Any], str]:
    """Return the first attempts at an exercise, each with words that `check` has to say; none where none are kept."""
    name = f"tests.hidden.mutants.{topic.name}.{exercise}"
    return getattr(import_module(name), "FIRST_ATTEMPTS", {}) if find_spec(name) else {}


def heard(exercise: str, attempt: Callable[..., Any]) -> str:
    """Return the report that `check` prints to an attempt, in one line, without its last line on hidden checks."""
    verdict = public_verdict(exercise, attempt)
    _, *lines, _ = text(verdict, public=True).splitlines()
    return " ".join([f"({headline(verdict, public=True)})", *(line.strip() for line in lines)])


def main() -> None:
    """Print the table of the topics named on the command line."""
    print("| exercise | attempt | what is heard |\n|---|---|---|")
    for topic in map(find_topic, sys.argv[1:]):
        for item in topic.items:
            for attempt in first_attempts(topic, item.name):
                print(f"| {item.name} | {attempt.__name__} | {heard(item.name, attempt).replace('|', chr(92) + '|')} |")


if __name__ == "__main__":
    main()
