"""Models, trained as in the notebooks and judged as at grading."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, islice

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LinearLR, LRScheduler

from course import data
from course.exercise.key import key_of
from course.exercise.runner import run
from course.judge import Verdict, judge
from tests.original import find, item_of

Batches = Iterator[tuple[Tensor, ...]]
Schedule = Callable[[torch.optim.Optimizer, int], LRScheduler]


def loss(model: nn.Module, *batch: Tensor) -> Tensor:
    """Cross-entropy of what the model says of all but the batch's last tensor, which holds the classes."""
    *inputs, classes = batch
    return F.cross_entropy(model(*inputs).flatten(0, -2), classes.flatten())


def trained(
    task: str,
    build: Callable[[], nn.Module],
    seed: int,
    *,
    lr: float,
    loss: Callable[..., Tensor] = loss,
    optimizer: type[torch.optim.Optimizer] = torch.optim.Adam,
    schedule: Schedule | None = None,
    clip: Callable[[list[nn.Parameter]], object] | None = None,
    forgets: str = "",
    share: float = 1.0,
    stream: Callable[[torch.Generator], Batches] | None = None,
) -> nn.Module:
    """Return `build()`, trained with `share` of the task's budget to lower `loss(model, *batch)`.

    `schedule` gets the optimizer and the number of steps, and `clip` the parameters before each step. What the loop
    `forgets` is "zero_grad" or "step". A `stream` of one's own stands for the task's.
    """
    torch.manual_seed(seed)
    model, generator = build(), torch.Generator().manual_seed(seed)
    batches = stream(generator) if stream else data.stream(task, generator)
    first = next(batches)
    steps = math.ceil(share * item_of(task).budget.cpu / len(first[0]))
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    descent = optimizer(parameters, lr=lr)
    rates = schedule(descent, steps) if schedule else None
    for batch in islice(chain([first], batches), steps):
        value = loss(model, *batch)
        if forgets != "zero_grad":
            descent.zero_grad()
        value.backward()
        if clip:
            clip(parameters)
        if forgets != "step":
            descent.step()
        if rates:
            rates.step()
    return model.eval()


def falling(to: float) -> Schedule:
    """Let the learning rate fall in a line, `to` this share of itself at the last step."""
    return lambda optimizer, steps: LinearLR(optimizer, 1.0, to, total_iters=steps)


def verdict_on(task: str, model: nn.Module, seed: int = 0) -> Verdict:
    """The verdict on a model that was trained for `task`, on what the judge draws from `seed`."""
    exercise = find(task)
    return judge(key_of(exercise, seed), lambda script: run(script, model), item_of(task).points)
