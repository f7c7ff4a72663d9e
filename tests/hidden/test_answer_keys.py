"""Where references and hidden tests are absent, `check` says the same by the answer keys."""

from __future__ import annotations

from functools import cache

import pytest

from course.exercise.key import Key, read_key_file
from course.exercise.nested import leaves
from course.exercise.wire import pack
from course.grading.kernel_edition import assemble
from course.judge import judge
from tests.hidden.judged import answering_in_bytes, key_at, verdict_on_misconception
from tests.hidden.test_matrix import EXERCISES, IDS


@cache
def keys(topic: str) -> dict[str, Key]:
    """The answer keys of a topic in the student edition."""
    return read_key_file(assemble() / "course" / "keys" / f"{topic}.key").exercises


def asked(key: Key) -> list[list[bytes]]:
    """Every value of every script in bytes of its own: what shares memory in the one is apart in the other."""
    return [[pack(value) for value in leaves(script.to_plain())] for script in key.scripts]


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_answer_keys_diagnose_like_the_declarations(topic, exercise):
    key, declared = keys(topic.name)[exercise.name], key_at(exercise.name, None)
    assert asked(key) == asked(declared), "what the one records answers the other"
    cases = dict(zip(key.scripts, declared.cases, strict=True))
    for misconception in exercise.misconceptions:
        respond = answering_in_bytes(lambda script, name=misconception.name: cases[script].wrong(name))
        verdicts = (
            verdict_on_misconception(exercise.name, misconception.name, None),
            judge(key, respond, exercise.points),
        )
        first, second = ((v.kind, v.score, v.misconception, v.hint, v.message) for v in verdicts)
        assert first == second, f"{exercise.name}: {misconception.name}"
    assert key.hints == exercise.hints
