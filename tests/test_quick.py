"""`make quick` runs the tests of what changed."""

from __future__ import annotations

import pytest

from tests.quick import HIDDEN, ROOT, exercises_of
from tests.quick import tests_of as paths_of


@pytest.mark.parametrize(
    ("file", "paths", "exercises"),
    [
        ("course/judge/compare.py", ["tests/judge"], []),
        ("course/grading/export/canvas.py", ["tests/grading/export"], []),
        ("course/grading/execution/kernel_edition.py", ["tests/grading/execution"], []),
        ("course/source.py", ["tests/test_source.py"], []),
        ("course/hidden/rnn/rnn_cell.py", [], ["rnn_cell"]),
        ("tests/hidden/mutants/rnn/bptt.py", [], ["bptt"]),
        ("course/hidden/lora/question.py", [], ["LoRALinear", "merge"]),
        ("course/reference/rnn.py", ["tests/reference/test_rnn.py"], ["rnn_cell", "bptt"]),
        ("tests/judge/test_compare.py", ["tests/judge/test_compare.py"], []),
        ("docs/grading.md", [], []),
    ],
)
def test_a_changed_file_runs_its_tests(file: str, paths: list[str], exercises: list[str]) -> None:
    assert list(paths_of(file)) == paths and all((ROOT / path).exists() for path in [file, *paths, *HIDDEN])
    assert set(exercises) <= set(exercises_of(file)) and bool(exercises) == bool(exercises_of(file))
