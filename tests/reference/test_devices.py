"""Every reference answers on a GPU as on a CPU: a student may move a model and its data there and call it.

What draws from a generator, or is handed a function of the judge's, stays on the CPU with it.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from course.exercise.runner import run
from course.hidden import exercises
from course.judge import judge
from course.notebook.find_key import key
from course.syllabus import OURS

EXERCISES = [exercise for topic in OURS for exercise in exercises(topic) if not exercise.name.endswith("_task")]


def moved(values: Any, place: str) -> Any:
    """All tensors and modules in `values` on `place`."""
    return tree_map(lambda value: value.to(place) if isinstance(value, Tensor | nn.Module) else value, values)


def on(place: str, answer: Any) -> Any:
    """`answer`, working on `place` and answering on the CPU, where the judge is; so does a module that it makes."""

    def called(*args: Any, **kwargs: Any) -> Any:
        given = tree_leaves((args, kwargs))
        if any(isinstance(value, torch.Generator) for value in given):
            return answer(*args, **kwargs)
        if any(callable(value) and not isinstance(value, nn.Module) for value in given):
            return answer(*args, **kwargs)
        args, kwargs = moved((args, kwargs), place)
        result = answer(*args, **kwargs)
        if isinstance(result, nn.Module) and not any(result is value for value in args):
            result.to(place).register_forward_hook(lambda module, given, out: moved(out, "cpu"))
            return result
        return moved(result, "cpu")

    return called


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_references_on_the_gpu_pass_their_public_checks():
    failed = {}
    for exercise in EXERCISES:
        with torch.backends.cudnn.flags(enabled=False):  # whose recurrent layers have no gradient in evaluation
            verdict = judge(
                key(exercise.name), lambda script, one=exercise: run(script, on("cuda", one.reference)), 1.0
            )
        if verdict.kind != "passed":
            failed[exercise.name] = [(case.title, case.message) for case in verdict.cases if not case.passed]
    assert failed == {}
