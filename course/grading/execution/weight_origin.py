"""Where the weights of a judged model come from: the checkpoint that was handed in, or another source.

The kernel says which weights its model holds, and what it says decides nothing. The files are read here. Whoever
trained with `fit` and gave `record.model` to `check` has the weights of the checkpoint, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from course.grading.execution.task import Task

Origin = Literal["handed in", "trained anew", "replaced", "elsewhere", "none"]
"""The checkpoint that was handed in; one that was written while grading, as there was none, or in place of the one
there was; no checkpoint; and a model without weights."""


def origins(weights: Mapping[str, Mapping[str, str]], task: Task, written: Mapping[str, bytes]) -> dict[str, str]:
    """The origin of each model whose weights were told.

    Args:
        weights: the digest of each parameter, by task.
        task: what was handed in.
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
