"""Answers to the hidden tests, judged as at grading. What a misconception answers is executed once a seed."""

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
    """The key of an exercise for a seed, as in grading, or for no seed that of `check`. It keeps what it was told."""
    exercise = find(name)
    key = key_of(exercise, public_only=True) if seed is None else key_of(exercise, seed)
    return replace(key, cases=tuple(_recorded_once(exercise, key)))


def verdict_on(name: str, answer: Any, seed: int | None) -> Verdict:
    """The verdict on an answer, executed for it."""
    return judge(key_at(name, seed), across(lambda script: run(script, answer)), points_of(name))


def points_for(name: str, answer: Any, seed: int | None) -> float:
    """The points of an answer, executed for them. What mistake it shows, which takes long to say, is not asked."""
    key = replace(key_at(name, seed), misconceptions=())
    return judge(key, across(lambda script: run(script, answer)), points_of(name)).score


@cache
def verdict_on_misconception(name: str, misconception: str, seed: int | None) -> Verdict:
    """The verdict on what the key records of a misconception."""
    key = key_at(name, seed)
    return judge(key, answering_in_bytes(recorded(key, misconception)), points_of(name))


def forget() -> None:
    """Drop all keys, of which one can take thirty megabytes, and what was told from them."""
    key_at.cache_clear()
    verdict_on_misconception.cache_clear()


def across(respond: Respond) -> Respond:
    """An answer that is asked in bytes, and answers in bytes, as one in a kernel."""
    return answering_in_bytes(lambda script: respond(Script.from_plain(unpack(pack(script.to_plain())))))


def answering_in_bytes(respond: Respond) -> Respond:
    """What `respond` answers, sent as bytes."""
    return lambda script: Recording.from_plain(unpack(pack(respond(script).to_plain())))


def _recorded_once(exercise: Exercise, key: Key) -> Iterator[KeyCase]:
    """The cases of `key`; misconceptions are asked in bytes, and watched for forbidden calls, as answers are."""
    wrong: Wrong | None = None
    for held, script in zip(key.cases, key.scripts, strict=True):
        if wrong is None or not held.case.again:
            wrong = _what_misconceptions_answer(exercise, script)
        yield replace(held, wrong=wrong)


def _what_misconceptions_answer(exercise: Exercise, script: Script) -> Wrong:
    by_name = {misconception.name: misconception.wrong for misconception in exercise.misconceptions}
    came = Script.from_plain(unpack(pack(script.to_plain())))
    return cache(lambda name: run(came, by_name[name]))
