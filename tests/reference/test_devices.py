"""Every reference answers on a GPU as on a CPU: a student may move a model and its data there and call it.

What draws from a generator stays on the CPU, as the generator does.
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
from course.notebook.keys import key
from course.syllabus import TOPICS

EXERCISES = [exercise for topic in TOPICS for exercise in exercises(topic) if not exercise.name.endswith("_task")]


def on(place: str, answer: Any) -> Any:
    """`answer`, given its tensors and modules on `place`; what it makes is put there, too."""

    def moved(value: Any) -> Any:
        return value.to(place) if isinstance(value, Tensor | nn.Module) else value

    def called(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, torch.Generator) for value in tree_leaves((args, kwargs))):
            return answer(*args, **kwargs)
        args, kwargs = tree_map(moved, (args, kwargs))
        result = answer(*args, **kwargs)
        return moved(result) if isinstance(result, nn.Module) else result

    return called


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_a_reference_on_the_gpu_passes_its_public_checks(exercise):
    verdict = judge(key(exercise.name), lambda script: run(script, on("cuda", exercise.reference)), exercise.points)
    assert verdict.kind == "passed", [(case.title, case.message) for case in verdict.cases if not case.passed]
