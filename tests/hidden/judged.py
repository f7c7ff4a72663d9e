"""Judge answers to the hidden tests as at grading. A misconception is executed once for each seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from course.exercise import Exercise
from course.exercise.key import Key, KeyCase, Wrong, key_of
from course.exercise.recording import Recording
from course.exercise.runner import run
from course.exercise.script import Script
from course.exercise.wire import pack, unpack
from course.judge import Verdict, judge
from tests.original import find, points_of
from tests.recorded import recorded

Respond = Callable[[Script], Recording]
SEED = 3
"""In `make soak` there are many more."""


@cache
def key_at(name: str, seed: int | None) -> Key:
    """Return an exercise's key: that of grading for a seed, that of `check` for None. It caches misconceptions."""
    exercise = find(name)
    key = key_of(exercise, public_only=True) if seed is None else key_of(exercise, seed)
    return replace(key, cases=tuple(_recorded_once(exercise, key)))


def verdict_on(name: str, answer: Any, seed: int | None) -> Verdict:
    """Run an answer and return the verdict on it."""
    return judge(key_at(name, seed), across(lambda script: run(script, answer)), points_of(name))


def points_for(name: str, answer: Any, seed: int | None) -> float:
    """Run an answer and return its points. Skip the diagnosis of its mistake, because that is slow."""
    key = replace(key_at(name, seed), misconceptions=())
    return judge(key, across(lambda script: run(script, answer)), points_of(name)).score


@cache
def verdict_on_misconception(name: str, misconception: str, seed: int | None) -> Verdict:
    """Return the verdict on a misconception, from what the key has recorded of it."""
    key = key_at(name, seed)
    return judge(key, answering_in_bytes(recorded(key, misconception)), points_of(name))


def forget() -> None:
    """Empty the caches of keys and verdicts, because a key can take thirty megabytes."""
    key_at.cache_clear()
    verdict_on_misconception.cache_clear()


def across(respond: Respond) -> Respond:
    """Return `respond` with scripts and recordings sent as bytes, as between the judge and a kernel."""
    return answering_in_bytes(lambda script: respond(Script.from_plain(unpack(pack(script.to_plain())))))


def answering_in_bytes(respond: Respond) -> Respond:
    """Return `respond` with its recordings sent as bytes."""
    return lambda script: Recording.from_plain(unpack(pack(respond(script).to_plain())))


def _recorded_once(exercise: Exercise, key: Key) -> Iterator[KeyCase]:
    """Yield the cases of `key`. Their misconceptions run like answers, from bytes and watched for forbidden calls."""
    wrong: Wrong | None = None
    for held, script in zip(key.cases, key.scripts, strict=True):
        if wrong is None or not held.case.again:
            wrong = _what_misconceptions_answer(exercise, script)
        yield replace(held, wrong=wrong)


def _what_misconceptions_answer(exercise: Exercise, script: Script) -> Wrong:
    by_name = {misconception.name: misconception.wrong for misconception in exercise.misconceptions}
    came = Script.from_plain(unpack(pack(script.to_plain())))
    return cache(lambda name: run(came, by_name[name]))
