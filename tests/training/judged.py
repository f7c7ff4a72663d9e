"""Trained models, judged as at grading."""

from __future__ import annotations

from torch import nn

from course.exercise.key import key_of
from course.exercise.runner import run
from course.hidden import find
from course.judge import Verdict, judge


def verdict_on(task: str, model: nn.Module, seed: int = 0) -> Verdict:
    """The verdict on a model that was trained for `task`, on what the judge draws from `seed`."""
    exercise = find(task)
    return judge(key_of(exercise, seed), lambda script: run(script, model), exercise.points)
