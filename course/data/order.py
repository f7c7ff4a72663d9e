"""Three games about nothing but order: echo each letter late, say the letters backwards, or sort them.

    heard    k a q b a z            k a q b a z            k a q b a z
    echo     · · · k a q            reverse  z a b q a k   sort     a a b k q z

Letters are drawn uniformly and independently, so the letters around a position tell nothing about its target. The echo
comes three positions late. Its first three positions have nothing to say and carry the target -100, which
`F.cross_entropy` leaves out. Reverse needs to know where the list ends, and sort where the answer stands. Only the echo
is a matter of distance alone, and so it makes sense at every length.

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
"""How many positions late the echo comes. It is too far for a neighbour and near enough for a short list."""
LENGTH = 16
"""Letters in a list of the training task."""
SILENCE = -100
"""The target of a position that has nothing to say, the `ignore_index` of `F.cross_entropy`."""
BATCH = 64
"""Lists in a training batch."""


def draw(n: int, generator: torch.Generator, length: int = LENGTH, task: str = "echo") -> tuple[Tensor, Tensor]:
    """`n` lists: ids (n, T) and targets (n, T), LongTensors that count in `LETTERS`, or `SILENCE`.

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
    """The target at each position of ids (B, T): a LongTensor (B, T)."""
    if task == "reverse":
        return ids.flip(1)
    if task == "sort":
        return ids.sort(dim=1).values
    late = torch.full_like(ids, SILENCE)
    late[:, DELAY:] = ids[:, :-DELAY]
    return late


def text(ids: Tensor) -> str:
    """One list (T,) for people to read: `k a q b`, with a dot where there is silence."""
    return " ".join("·" if i == SILENCE else LETTERS[i] for i in ids.tolist())


def load(rows: int = 2000, length: int = LENGTH, task: str = "echo", seed: int = 0) -> Dataset:
    """`rows` lists with the columns heard and said (text), ids and targets; always the same for one seed.

    They are drawn faster than a cache could be read, so none is kept.
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
    """Training batches of the echo, without end: ids (B, T) and targets (B, T)."""
    while True:
        yield draw(BATCH, generator)
