"""Find out where the weights of a judged model come from: the checkpoint that was handed in, or another source.

The kernel reports digests of the model's weights, which are compared with the files here and decide no points. A model
trained with `fit` and given to `check` as `record.model` has exactly the checkpoint's weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from course.grading.execution.task import Task

Origin = Literal["handed in", "trained anew", "replaced", "elsewhere", "none"]
"""The source of a model's weights: `trained anew` is a checkpoint written while grading where there was none to load,
`replaced` one written over the one handed in, `elsewhere` no checkpoint, and `none` a model without weights."""


def origins(weights: Mapping[str, Mapping[str, str]], task: Task, written: Mapping[str, bytes]) -> dict[str, str]:
    """Return the origin of each model whose weights the kernel reported.

    Args:
        weights: the digest of each parameter, by training task.
        task: the submission.
        written: the files that the notebook wrote.
    """
    return {name: _origin(told, f"checkpoints/{name}.safetensors", task, written) for name, told in weights.items()}


def _origin(told: Mapping[str, str], path: str, task: Task, written: Mapping[str, bytes]) -> Origin:
    if not told:
        return "none"
    if _holds(task.files.get(path, b""), told):
        return "handed in"
    if _holds(written.get(path, b""), told):
        return "replaced" if path in task.files and task.policy == "checkpoint" else "trained anew"
    return "elsewhere"


def _holds(content: bytes, told: Mapping[str, str]) -> bool:
    """Whether a checkpoint holds these weights, under these names."""
    import safetensors
    import safetensors.torch

    from course.exercise.compiled import plain_name
    from course.exercise.weights import digests

    if not content:
        return False
    try:
        kept = {plain_name(name): tensor for name, tensor in safetensors.torch.load(content).items()}
    except (safetensors.SafetensorError, ValueError, KeyError, RuntimeError, AttributeError, MemoryError):
        return False
    return digests({name: kept[name] for name in told if name in kept}) == told
