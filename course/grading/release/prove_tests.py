"""Prove the hidden tests of an instructor's exercises: the reference gets full points, and each mistake gets fewer."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from course.data.cache import cache_folder
from course.exercise import Exercise
from course.exercise.key import Key, NoKey, key_of
from course.exercise.laws import LAWS, params_of
from course.exercise.runner import run
from course.files import write_atomically
from course.grading.fingerprints import fingerprint
from course.judge import judge
from course.syllabus import Topic

SEEDS = (1, 2, 3)
"""Seeds for drawing the cases, because a mistake must fail at every seed."""


PROOFS = "proofs"
"""The folder in the course's cache for results, one file for each topic and state of its tests and the judge."""


def proved(topic: Topic) -> list[str]:
    """Return the faults that `prove` finds in a topic, cached until its tests or the judge change.

    Raises:
        Undeclared: the tests cannot be used at all.
    """
    place = cache_folder() / PROOFS / f"{topic.folder}-{fingerprint(frozenset({topic}))}.json"
    with suppress(OSError, ValueError):
        return list(map(str, json.loads(place.read_text("utf-8"))))
    logging.getLogger(__name__).info("Trying each known mistake of %s against its tests.", topic.folder)
    faults = list(prove(topic))
    with suppress(OSError):  # without a cache, they are proved again
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, json.dumps(faults).encode())
    return faults


def prove(topic: Topic) -> Iterator[str]:
    """Yield a sentence for each fault in the tests of a topic.

    Raises:
        Undeclared: the tests cannot be used at all.
    """
    from course.hidden import exercises

    for exercise in exercises(topic):
        yield from dict.fromkeys(fault for seed in SEEDS for fault in _at(exercise, seed))


def _at(exercise: Exercise, seed: int) -> Iterator[str]:
    try:
        yield from _faults(exercise, key_of(exercise, seed))
    except NoKey as error:
        yield str(error)


def _faults(exercise: Exercise, key: Key) -> Iterator[str]:
    parameters = inspect.signature(exercise.reference).parameters.values()
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    demanded = [p.name for p in parameters if p.kind in by_place and p.default is p.empty]
    misused = list(_misused_laws(key))
    if misused:
        yield from misused
        return
    verdict = judge(key, lambda script: run(script, exercise.reference), 1)
    if verdict.kind != "passed":
        yield f"{key.name}: its reference gets the verdict {verdict.kind}: {verdict.message}"
    if not any(held.case.public for held in key.cases):
        yield f"{key.name}: no case is public=True, so `check` has nothing to run"
    for mistake in exercise.misconceptions:
        name = mistake.name
        if fault := _misfit(mistake.wrong, *demanded):
            yield f"{key.name}: the mistake {name} cannot be called like the reference: {fault}"
            continue
        verdict = judge(key, lambda script, answer=mistake.wrong: run(script, answer), 1)  # type: ignore[misc]
        if verdict.kind == "passed":
            yield f"{key.name}: the mistake {name} earns full marks. Add a case in which it differs"
        elif verdict.misconception != name:
            yield f"{key.name}: the mistake {name} is recognised as {verdict.misconception or 'no mistake'}"


def _misused_laws(key: Key) -> Iterator[str]:
    for held in key.cases:
        for use in held.case.laws:
            if fault := _misfit(LAWS[use.name].holds, {}, **params_of(use)):
                yield f"{key.name}, case {held.case.title!r}: the law {use.name} cannot be called like this: {fault}"


def _misfit(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return why a function cannot be called with such arguments, or "" if it can, or has no signature."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return ""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    return ""
