"""The small calls that `explain` makes its questions of run with the reference, and travel in the answer key."""

from __future__ import annotations

import pytest

from course.hidden import exercises
from course.questions import Apart
from course.questions.executing import Run
from course.questions.outcomes import same
from course.syllabus import OURS, Topic
from tests.hidden.test_answer_keys import keys
from tests.original import find

NAMES = [item.name for topic in OURS for item in topic.items if item.kind == "exercise"]
ASKED = [topic for topic in OURS if any(exercise.calls for exercise in exercises(topic))]


def setup() -> str:
    """Import every reference under the name of its exercise."""
    references = {name: find(name).reference for name in NAMES}
    lines = (f"from {made.__module__} import {made.__name__} as {name}" for name, made in references.items())
    return "\n".join(lines)


@pytest.mark.parametrize("topic", ASKED, ids=lambda topic: topic.folder)
def test_each_call_runs_and_depends_on_no_chance(topic: Topic) -> None:
    calls = [(exercise.name, call) for exercise in exercises(topic) for call in exercise.calls]
    assert len(set(calls)) == len(calls)
    assert all(f"{name}(" in call for name, call in calls)
    runs = [Run(setup(), "", call, seed) for _, call in calls for seed in (0, 1, 2)]
    ran = [one.outcome for one in Apart(120)(runs)]
    for place, (_, call) in enumerate(calls):
        first, *others = ran[3 * place : 3 * place + 3]
        assert first.is_asked and (first.kind != "error" or first.parts[0] == "ValueError"), (call, first)
        assert all(same(first, other) is True for other in others), (call, first, others)


@pytest.mark.parametrize("topic", ASKED[::6], ids=lambda topic: topic.folder)
def test_a_students_edition_has_the_same_calls(topic: Topic) -> None:
    stored = keys(topic.name)
    assert {one.name: one.calls for one in exercises(topic)} == {name: key.calls for name, key in stored.items()}
