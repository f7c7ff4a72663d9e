"""Answer keys: without references and hidden tests, `check` says the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import torch

from course.exercise.key import Key, read_key_file
from course.exercise.nested import leaves
from course.exercise.recording import Recording
from course.exercise.script import Case
from course.exercise.wire import pack
from course.grading.kernel_edition import assemble
from course.judge import judge
from course.syllabus import OURS
from tests.hidden.judged import answering_in_bytes, key_at, verdict_on_misconception
from tests.hidden.test_matrix import EXERCISES, IDS
from tests.original import points_of
from tests.recorded import recorded


@cache
def keys(topic: str) -> dict[str, Key]:
    """Return the answer keys of a topic in the student edition."""
    return read_key_file(assemble("", OURS) / "course" / "keys" / f"{topic}.key").exercises


def in_bytes(plain: Any) -> list[bytes]:
    """Pack every value into bytes of its own, because shared memory may differ between two equal values."""
    return [pack(value) for value in leaves(in_order(plain))]


def in_order(value: Any) -> Any:
    """Sort dicts by their keys, and sets, because their order means nothing."""
    if isinstance(value, dict):
        return [(key, in_order(value[key])) for key in sorted(value, key=repr)]
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    return [in_order(one) for one in value] if isinstance(value, list | tuple) else value


def about(case: Case) -> list[Any]:
    """Return what a case asks for, except its steps."""
    laws = [(use.name, dict(use.params)) for use in case.laws]
    told = (case.title, case.public, case.weight, case.tolerance, case.values, case.raises, case.again)
    return [*told, tuple(case.needs), tuple(case.shown), laws]


def answered(recording: Recording) -> dict[str, Any]:
    """Return a recording as plain values, with its seconds set to 0."""
    return {**recording.to_plain(), "seconds": 0.0}


def assert_alike(one: Any, other: Any, what: str) -> None:
    """Assert that two plain values agree up to rounding, because another process may add in another order."""
    for value, expected in zip(leaves(in_order(one)), leaves(in_order(other)), strict=True):
        if isinstance(value, torch.Tensor):
            torch.testing.assert_close(value, expected, equal_nan=True, msg=lambda said: f"{what}: {said}")
        else:
            assert value == (pytest.approx(expected, nan_ok=True) if isinstance(expected, float) else expected), what


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_answer_keys_hold_what_the_declarations_ask_and_expect(topic, exercise):
    """Compare the recordings of all misconceptions, and the verdicts on the first one."""
    key, declared = keys(topic.name)[exercise.name], key_at(exercise.name, None)
    for one, other in ((key.signature, declared.signature), (key.hints, exercise.hints)):
        assert one == other
    assert (key.forbidden, key.misconceptions) == (declared.forbidden, declared.misconceptions)
    assert len(key.cases) == len(declared.cases)
    for held, script, other, asked in zip(key.cases, key.scripts, declared.cases, declared.scripts, strict=True):
        assert_alike(about(held.case), about(other.case), "the case")
        assert in_bytes(script.to_plain()) == in_bytes(asked.to_plain()), "what the one records answers the other"
        assert_alike(answered(held.expected), answered(other.expected), "the reference")
        for known in key.misconceptions:
            assert_alike(answered(held.wrong(known.name)), answered(other.wrong(known.name)), known.name)
    name = exercise.misconceptions[0].name
    verdicts = (
        judge(key, answering_in_bytes(recorded(key, name)), points_of(exercise.name)),
        verdict_on_misconception(exercise.name, name, None),
    )
    first, second = ((v.kind, v.score, v.misconception, v.hint, v.message) for v in verdicts)
    assert first == second
