"""Where references and hidden tests are absent, `check` says the same."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from course.grading.execution.kernel_edition import assemble
from course.syllabus import OURS


@pytest.fixture(scope="module")
def edition():
    return assemble("", OURS)


NOTEBOOK = """
import importlib.util, torch, course
for name in ("reference", "hidden"):
    assert importlib.util.find_spec(f"course.{name}") is None, name

def rnn_cell(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b

course.check("rnn_cell", rnn_cell)
for _ in course.notebook.find_key.key("rnn_cell").hints:
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
    assert "holds no solutions" in done.stdout and "course solution" not in done.stdout
