"""Seconds that `check` takes, from answer keys as students have them; and the first time where the tests are installed.

The course promises an answer in half a second. With the hidden tests installed, the first check of an exercise runs
the reference too, and for a wrong answer the misconceptions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from course.exercise.key import Key, read_key_file
from course.exercise.runner import run
from course.grading.execution.kernel_edition import assemble
from course.hidden import exercises
from course.judge import judge
from course.notebook.find_key import key as installed
from course.syllabus import OURS


def rows() -> list[list[str]]:
    """One row an exercise, in the order of the syllabus."""
    table = [["exercise", "right answer", "slowest wrong answer", "first, tests installed"]]
    for topic in OURS:
        keys = read_key_file(assemble("", OURS) / "course" / "keys" / f"{topic.name}.key")
        for exercise in exercises(topic):
            first = _seconds(lambda name=exercise.name: installed(name), exercise.reference)
            right = _seconds(lambda key=keys[exercise.name]: key, exercise.reference)
            wrong = max(_seconds(lambda key=keys[exercise.name]: key, m.wrong) for m in exercise.misconceptions)
            table.append([f"{topic.folder} {exercise.name}", *(f"{value:.3f}" for value in (right, wrong, first))])
    return table


def _seconds(key: Callable[[], Key], answer: Callable[..., Any]) -> float:
    started = time.perf_counter()
    judge(key(), lambda script: run(script, answer), 1)
    return time.perf_counter() - started
