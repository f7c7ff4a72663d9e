"""Where references and hidden tests are absent, `check` says the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from course.exercise.key import key_of, read_key_file
from course.exercise.runner import run
from course.grading.student_edition import assemble
from course.hidden import exercises
from course.judge import judge
from course.syllabus import TOPICS
from tests.recorded import recorded


@pytest.fixture(scope="module")
def edition():
    return assemble()


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_answer_keys_diagnose_like_the_declarations(edition, topic):
    keys = read_key_file(edition / "course" / "keys" / f"{topic.name}.key")
    for exercise in exercises(topic):
        declared = key_of(exercise, public_only=True)
        for misconception in exercise.misconceptions:
            verdicts = (
                judge(declared, recorded(declared, misconception.name), exercise.points),
                judge(keys[exercise.name], lambda script, m=misconception: run(script, m.wrong), exercise.points),
            )
            first, second = ((v.kind, v.score, v.misconception, v.hint, v.message) for v in verdicts)
            assert first == second, f"{exercise.name}: {misconception.name}"
        assert keys[exercise.name].hints == exercise.hints


NOTEBOOK = """
import importlib.util, torch, course
for name in ("reference", "hidden"):
    assert importlib.util.find_spec(f"course.{name}") is None, name

def rnn_cell(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b

course.check("rnn_cell", rnn_cell)
course.hint("rnn_cell")
"""


def test_a_notebook_on_the_student_edition(edition, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(edition)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "✗ rnn_cell" in done.stdout and "Look here" in done.stdout and "Hint 1" in done.stdout
