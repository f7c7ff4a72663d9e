"""The demo's class submits code of misconceptions, which must run without the modules of the hidden tests."""

from __future__ import annotations

import pytest

from course.grading.demo.made_up_students import standalone_source
from tests.hidden.judged import SEED, verdict_on
from tests.hidden.test_matrix import EXERCISES
from tests.original import points_of

WRITTEN = [exercise for _, exercise in EXERCISES if not exercise.name.endswith("_task")]


@pytest.mark.parametrize("exercise", WRITTEN, ids=[exercise.name for exercise in WRITTEN])
def test_code_of_misconceptions_stands_alone(exercise):
    """Judge the standalone source of a misconception, and recognise the misconception in it."""
    sources = ((m.name, standalone_source(m.wrong, exercise.name)) for m in exercise.misconceptions)
    name, source = next((name, source) for name, source in sources if source)
    space: dict = {}
    exec(compile(source, "cell", "exec"), space)
    verdict = verdict_on(exercise.name, space[exercise.name], SEED)
    assert (verdict.misconception, verdict.score < points_of(exercise.name)) == (name, True)
