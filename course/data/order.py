"""Three tasks about order alone: repeat each letter late (echo), reverse the letters, or sort them.

    heard    k a q b a z            k a q b a z            k a q b a z
    echo     · · · k a q            reverse  z a b q a k   sort     a a b k q z

Letters are drawn uniformly and independently, so the letters around a position carry no information about its target.
The echo comes three positions late. Its first three positions have no output and carry the target -100, which
`F.cross_entropy` ignores. Reversing needs the length of the list, and sorting the position of the answer. Only the echo
depends on distance alone, so it makes sense at every length.

Glossary: B lists, T letters in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import Dataset

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TASKS = ("echo", "reverse", "sort")
DELAY = 3
"""Delay of the echo in positions: too far for a neighbour and near enough for a short list."""
LENGTH = 16
"""Letters in a list of the training task."""
SILENCE = -100
"""The target of a position without output, the `ignore_index` of `F.cross_entropy`."""
BATCH = 64
"""Lists in a training batch."""


def draw(n: int, generator: torch.Generator, length: int = LENGTH, task: str = "echo") -> tuple[Tensor, Tensor]:
    """Draw `n` lists: ids (n, T) and targets (n, T), LongTensors of indices of `LETTERS`, or `SILENCE`.

    Raises:
        ValueError: there is no such task, or the list is too short for an echo.
    """
    if task not in TASKS:
        raise ValueError(f"no game is called {task!r}; there are {', '.join(TASKS)}")
    if length <= DELAY:
        raise ValueError(f"a list of {length} letters has no echo, because an echo needs at least {DELAY + 1}")
    ids = torch.randint(len(LETTERS), (n, length), generator=generator)
    return ids, targets(ids, task)


def targets(ids: Tensor, task: str = "echo") -> Tensor:
    """Return the target at each position of ids (B, T): a LongTensor (B, T)."""
    if task == "reverse":
        return ids.flip(1)
    if task == "sort":
        return ids.sort(dim=1).values
    late = torch.full_like(ids, SILENCE)
    late[:, DELAY:] = ids[:, :-DELAY]
    return late


def text(ids: Tensor) -> str:
    """Return one list (T,) in readable form: `k a q b`, with a dot for `SILENCE`."""
    return " ".join("·" if i == SILENCE else LETTERS[i] for i in ids.tolist())


def load(rows: int = 2000, length: int = LENGTH, task: str = "echo", seed: int = 0) -> Dataset:
    """Return `rows` lists with columns heard and said (text), ids and targets, always the same for one seed.

    They are drawn faster than a cache could be read, so they are not cached.
    """
    ids, said = draw(rows, torch.Generator().manual_seed(seed), length, task)
    return datasets_library().Dataset.from_dict(
        {
            "heard": [text(row) for row in ids],
            "said": [text(row) for row in said],
            "ids": ids.tolist(),
            "targets": said.tolist(),
        }
    )


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches of the echo: ids (B, T) and targets (B, T)."""
    while True:
        yield draw(BATCH, generator)
