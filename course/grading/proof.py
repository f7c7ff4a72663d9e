"""Tries the hidden tests of an instructor's own exercises: the right answer earns everything, each mistake less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from course.exercise import Exercise
from course.exercise.key import Key, NoKey, key_of
from course.exercise.runner import run
from course.judge import judge
from course.syllabus import Topic

SEEDS = (1, 2, 3)
"""Different draws of the cases: a mistake that only sometimes shows is no use to anybody."""


def prove(topic: Topic) -> Iterator[str]:
    """What is wrong with the tests of a topic, a sentence each.

    Raises:
        Undeclared: they cannot be used at all.
    """
    from course.hidden import exercises

    for exercise in exercises(topic):
        yield from dict.fromkeys(fault for seed in SEEDS for fault in _at(exercise, seed))


def _at(exercise: Exercise, seed: int) -> Iterator[str]:
    wrong = {mistake.name: mistake.wrong for mistake in exercise.misconceptions}
    try:
        yield from _faults(key_of(exercise, seed), exercise.reference, wrong)
    except NoKey as error:
        yield str(error)


def _faults(key: Key, reference: Callable[..., Any], wrong: dict[str, Callable[..., Any]]) -> Iterator[str]:
    verdict = judge(key, lambda script: run(script, reference), 1)
    if verdict.kind != "passed":
        yield f"{key.name}: its own right answer is judged {verdict.kind}: {verdict.message}"
    if not any(held.case.public for held in key.cases):
        yield f"{key.name}: no case is public=True, so `check` would have nothing to run"
    for name, answer in wrong.items():
        verdict = judge(key, lambda script, answer=answer: run(script, answer), 1)  # type: ignore[misc]
        if verdict.kind == "passed":
            yield f"{key.name}: the mistake {name} earns full marks: a case is missing that tells it apart"
        elif verdict.misconception != name:
            yield f"{key.name}: the mistake {name} is taken for {verdict.misconception or 'none of your mistakes'}"
