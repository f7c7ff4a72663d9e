"""CONTRIBUTING's example is run as it stands: what it promises, the judge does."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import jupytext
import torch

from course.exercise.key import key_of
from course.exercise.runner import run
from course.judge import judge

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")


def _block(name: str) -> str:
    (code,) = re.findall(rf"```python {name}\n(.*?)```", TEXT, re.S)
    return code


def test_the_example_exercise_keeps_its_promises() -> None:
    reference: dict = {}
    exec(_block("reference"), reference)
    hidden: dict = {"reference": SimpleNamespace(**reference)}
    exec(_block("hidden"), hidden)
    exercise = hidden["moving_average"]
    key = key_of(exercise, 7)
    assert judge(key, lambda script: run(script, exercise.reference), 2).kind == "passed"
    for misconception in exercise.misconceptions:
        verdict = judge(key, lambda script, wrong=misconception.wrong: run(script, wrong), 2)
        assert verdict.score < 2 and verdict.misconception == misconception.name


def test_an_exercise_is_about_thirty_lines() -> None:
    written = [line for line in _block("hidden").splitlines() if line.strip()]
    assert len(written) < 36


def test_the_notebook_cells_are_what_the_builder_reads() -> None:
    answer, check = jupytext.reads(_block("notebook"), fmt="py:percent").cells
    assert (answer.metadata["solution"], check.metadata["check"]) == ("moving_average", "moving_average")
    namespace: dict = {"torch": torch}
    exec(answer.source, namespace)
    assert namespace["moving_average"](torch.ones(2, 5), 3).shape == (2, 3)
