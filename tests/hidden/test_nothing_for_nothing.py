"""Empty answers earn nothing: constants, the first argument, an error, or results copied from a public key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from course.exercise import Exercise
from course.exercise.key import Key, KeyCase
from course.exercise.recording import Raised, Recording
from course.exercise.runner import run
from course.exercise.script import Script, Step
from course.exercise.values import Ref
from course.exercise.wire import pack
from course.judge import judge
from tests.hidden.judged import SEED, forget, key_at
from tests.hidden.test_matrix import EXERCISES, IDS, MANY_SEEDS
from tests.original import points_of

MOST = 0.05
"""Of the points, what such an answer may earn."""
Respond = Callable[[Script], Recording]


@pytest.mark.parametrize("exercise", [exercise for _, exercise in EXERCISES], ids=IDS)
def test_who_answers_nothing_earns_nothing(exercise):
    earns_nothing(exercise, SEED)


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY_SEEDS)
@pytest.mark.parametrize("exercise", [exercise for _, exercise in EXERCISES], ids=IDS)
def test_with_no_seed_either(exercise, seed):
    forget()
    earns_nothing(exercise, seed)


def earns_nothing(exercise: Exercise, seed: int) -> None:
    key = replace(key_at(exercise.name, seed), misconceptions=())  # what it is taken for takes long to say
    for name, respond in answers(exercise, key, key_at(exercise.name, None)):
        verdict = judge(key, respond, points_of(exercise.name))
        passed = [case.title for case in verdict.cases if case.passed]
        assert verdict.score <= MOST * points_of(exercise.name), (
            f"{exercise.name}: {name} earns {verdict.score:g} of {points_of(exercise.name)}, by {passed}"
        )


def answers(exercise: Exercise, key: Key, public: Key) -> Iterator[tuple[str, Respond]]:
    """Yield each empty answer by name, with its responses to the scripts of `key`. `public` is the students' key."""
    yield "zeros", constant(key, 0.0)
    yield "ones", constant(key, 1.0)
    objects = {repr(value): _says(exercise, value) for value in (True, False, {}, None)}
    objects |= {"the first argument": _first, "a model of the first argument": _says(exercise), "an error": _refuses}
    for name, answer in objects.items():
        yield name, partial(run, answer=answer)
    yield "the public key, else an error", replayed(public, or_else=_an_error)
    yield "the public key, else what comes next", replayed(public, or_else=_what_comes_next)


# -- one thing for all -------------------------------------------------------------------------------------------------


def constant(key: Key, number: float) -> Respond:
    """Return responses with `number` in place of all numbers of the reference, in its shapes, without gradients."""
    asked = dict(zip(key.scripts, key.cases, strict=True))

    def respond(script: Script) -> Recording:
        said, given = dict(asked[script].expected.outputs), _said_by_others(script)
        said |= {step.into: {} for step in script.steps if step.verb == "learning"}  # nothing, by any name
        changed = {into: None if _is_gradient(into) else _like(one, number) for into, one in said.items()}
        return Recording({into: said[into] if into in given else one for into, one in changed.items()})

    return respond


def _said_by_others(script: Script) -> set[str]:
    """Return the outputs of layers that the judge made and called with its own inputs."""
    made = {step.into for step in script.steps if step.verb == "make"}
    calls = (step for step in script.steps if step.verb == "call" and step.on in made)
    return {step.into for step in calls if not any(isinstance(value, Ref) for value in step.args)}


def _is_gradient(into: str) -> bool:
    return into.startswith("gradients of ")


def _like(value: Any, number: float) -> Any:
    if isinstance(value, Tensor):
        return torch.full_like(value.detach(), number)
    if isinstance(value, bool | int | float):
        return type(value)(number)
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_like(item, number) for item in value)
    if isinstance(value, dict):
        return {key: _like(item, number) for key, item in value.items()}
    return type(value)() if isinstance(value, str | bytes) else value


class _Says(nn.Module):
    """A module whose every method returns `value`, or the first argument if there is no value."""

    def __init__(self, *value: Any) -> None:
        super().__init__()
        self.value = value

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.value[0] if self.value else _first(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return super().__getattr__(name) if name.startswith("_") else self.forward


def _says(exercise: Exercise, *value: Any) -> Callable[..., Any]:
    """Return a function that returns `value`, or, if the exercise asks for a class, a class whose objects do."""
    said = _Says(*value)
    return (lambda *args, **kwargs: said) if inspect.isclass(exercise.reference) else said


def _first(*args: Any, **kwargs: Any) -> Any:
    return next(iter([*args, *kwargs.values()]), None)


def _refuses(*args: Any, **kwargs: Any) -> Any:
    raise ValueError("no")


# -- what students can read --------------------------------------------------------------------------------------------


def replayed(public: Key, or_else: Callable[[KeyCase, Step, dict[str, Any]], Raised | None]) -> Respond:
    """Return responses that repeat what a public key records for an equal step. `or_else` answers other steps."""
    recorded = {
        _asked(step): held.expected.outputs[step.into]
        for held in public.cases
        for step in held.case.steps
        if step.into in held.expected.outputs
    }
    order = cycle(public.cases)

    def respond(script: Script) -> Recording:
        held, outputs = next(order), {}
        for step in script.steps:
            question = _asked(step)
            if question in recorded:
                outputs[step.into] = recorded[question]
            elif step.verb not in ("fill", "load", "train", "make") and (raised := or_else(held, step, outputs)):
                return Recording(outputs, raised)
        return Recording(outputs)

    return respond


def _asked(step: Step) -> bytes:
    """Return a step as bytes, without the name of its output."""
    return pack({name: value for name, value in step.to_plain().items() if name != "into"})


def _an_error(held: KeyCase, step: Step, outputs: dict[str, Any]) -> Raised:
    return Raised(("ValueError", "Exception"), "no", step=step.into)


def _what_comes_next(held: KeyCase, step: Step, outputs: dict[str, Any]) -> None:
    if step.into in held.expected.outputs:
        outputs[step.into] = held.expected.outputs[step.into]
