"""Two relations at once: children in a playground, each with a number on the shirt, a best friend and a rival.

    k4 (friend a, rival q)   a7 (friend q, rival b)   q0 (friend b, rival a)   b3 (friend a, rival k)

There are two questions about every child: which number does the friend wear, and which the rival? For k the answers are
7 and 0. A model must look at two positions at once, for two different reasons, and must not confuse the results. A
child may be the friend of one and the rival of another. The order of the children carries no information.

Glossary: B playgrounds, S children in each.

Source: our own, made for the question of the lectures' "Why multi-head attention?": what if we want to look in
multiple places at once, for different reasons?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import Dataset

NAMES = "abcdefghijklmnopqrstuvwxyz"
NUMBERS = "0123456789"
CHILDREN = 8
"""Default number of children in a playground."""

BATCH = 100
"""Playgrounds in a training batch."""

Playgrounds = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def draw(n: int, generator: torch.Generator, children: int = CHILDREN) -> Playgrounds:
    """Draw `n` playgrounds: names, numbers, friends and rivals (n, S), and answers (n, S, 2), all LongTensors.

    `names`, `friends` and `rivals` are indices of `NAMES`, `numbers` and `answers` of `NUMBERS`. Names differ within a
    playground, numbers may repeat. Friend and rival are two other children of the same playground. `answers[..., 0]`
    is the friend's number, `answers[..., 1]` the rival's. All randomness is from `generator`.

    Raises:
        ValueError: fewer than three children, or more than there are names.
    """
    if not 3 <= children <= len(NAMES):
        raise ValueError(f"a playground holds 3 to {len(NAMES)} children; {children} were asked for")
    names = torch.rand(n, len(NAMES), generator=generator).argsort(dim=1)[:, :children]  # a shuffled alphabet, cut
    numbers = torch.randint(len(NUMBERS), (n, children), generator=generator)
    chance = torch.rand(n, children, children, generator=generator)
    chance = chance + 2 * torch.eye(children)  # nobody chooses themselves
    chosen = chance.argsort(dim=2)[..., :2]  # (n, S, 2): the places of friend and rival
    friends, rivals = (names.gather(1, place) for place in chosen.unbind(2))
    answers = numbers[:, None].expand(-1, children, -1).gather(2, chosen)  # (n, S, 2)
    return names, numbers, friends, rivals, answers


def text(names: Tensor, numbers: Tensor, friends: Tensor, rivals: Tensor) -> str:
    """Return one playground, all four (S,), in readable form: `k4 (friend a, rival q)`, and so on."""
    children = zip(*(each.tolist() for each in (names, numbers, friends, rivals)), strict=True)
    return "   ".join(f"{NAMES[a]}{NUMBERS[n]} (friend {NAMES[f]}, rival {NAMES[r]})" for a, n, f, r in children)


def load(rows: int = 2000, children: int = CHILDREN, seed: int = 0) -> Dataset:
    """Return `rows` playgrounds with columns text, names, numbers, friends, rivals and answers, fixed by the seed.

    They are drawn faster than a cache could be read, so they are not cached.
    """
    names, numbers, friends, rivals, answers = draw(rows, torch.Generator().manual_seed(seed), children)
    return datasets_library().Dataset.from_dict(
        {
            "text": [text(*row) for row in zip(names, numbers, friends, rivals, strict=True)],
            "names": names.tolist(),
            "numbers": numbers.tolist(),
            "friends": friends.tolist(),
            "rivals": rivals.tolist(),
            "answers": answers.tolist(),
        }
    )


def batches(generator: torch.Generator) -> Iterator[Playgrounds]:
    """Yield endless training batches: names, numbers, friends, rivals (B, S), answers (B, S, 2)."""
    while True:
        yield draw(BATCH, generator)
