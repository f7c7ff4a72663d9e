"""What decides a notebook's results is part of the engine's name: its topics' tests, and what topics share."""

from __future__ import annotations

from pathlib import Path

import pytest

import course
from course.grading import engine


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("hidden/rnn.py", True),
        ("hidden/reading.py", True),
        ("hidden/__init__.py", True),
        ("reference/rnn.py", True),
        ("judge/compare.py", True),
        ("hidden/lstm_gru.py", False),
        ("reference/lora.py", False),
        ("cli.py", False),
    ],
)
def test_what_decides_the_results_of_a_topic(file, decides):
    package = Path(course.__file__).parent
    assert (package / file in engine._files(package, frozenset({"rnn"}))) == decides
