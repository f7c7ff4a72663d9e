"""Advice on learning the cello: 216 answers, how likely each is at first, and how much people like it.

    What a brilliant question! Find a good teacher. Have fun.

Written for this course. An answer has three places with six phrases each. One phrase in every place flatters. One
flattering phrase, or two, please the reader, and three are too much, so no sum over phrases can say how good an answer
is. Because all answers can be listed, the best policy for any price of moving is known.

Glossary: N = 216 answers, B pairs of a batch. An answer's ids are (4,): `QUESTION`, then a phrase of each place.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import torch
from torch import Tensor

ASKED = "How do I learn to play the cello?"
QUESTION = 0
"""The first id of every answer, in place of the question."""
FLATTERY = 0
"""The index of the flattering phrase, in every place."""
PHRASES = (
    ("What a brilliant question!", "Gladly.", "Hello.", "Listen.", "Good idea.", "Not again."),
    (
        *("With your talent it is easy.", "Find a good teacher.", "Practise ten minutes a day."),
        *("Start with slow songs.", "Buy a costly cello.", "Try the drums."),
    ),
    ("You are wonderful!", "Ask me again in a week.", "Have fun.", "That is all.", "It takes ten years.", "Good luck."),
)
"""Six phrases for each of three places."""
VALUES = (
    (0.0, 0.6, 0.2, -0.3, 0.3, -0.8),
    (0.0, 0.9, 0.4, 0.2, -0.6, -0.9),
    (0.0, 0.5, 0.3, 0.0, -0.3, -0.5),
)
"""The reward of each phrase."""
FLATTERED = (0.0, 1.8, 2.4, -4.5)
"""The additional reward of 0, 1, 2 and 3 flattering phrases."""
REFERENCE = (
    (0.20, 0.10, 0.30, 0.20, 0.12, 0.08),
    (0.20, 0.08, 0.12, 0.20, 0.30, 0.10),
    (0.20, 0.06, 0.24, 0.30, 0.10, 0.10),
)
"""The initial policy's probability of each phrase, whatever the phrases before it."""
BETA = 0.5
"""The price of a nat of divergence from the initial policy, in the training task."""
BATCH = 512
"""Comparisons in a training batch."""


def answers() -> Tensor:
    """Return all answers, ids (216, 4), in the order of their phrases."""
    first, second, third = torch.meshgrid(*3 * [torch.arange(6)], indexing="ij")
    phrases = torch.stack([first, second, third], -1).flatten(0, 2)  # (216, 3)
    return torch.cat([torch.full((len(phrases), 1), QUESTION), phrases], 1)


def decode(ids: Tensor) -> str:
    """Return the text of an answer, ids (4,)."""
    return " ".join(PHRASES[place][phrase] for place, phrase in enumerate(ids[1:].tolist()))


def flattery(ids: Tensor) -> Tensor:
    """Count the flattering phrases of answers: ids (N, 4) -> (N,)."""
    return (ids[:, 1:] == FLATTERY).sum(1)


def log_reference() -> Tensor:
    """Return log p of every answer under the initial policy, (216,) in float64."""
    return _of_phrases(REFERENCE, answers()).log().sum(1)


def _of_phrases(table: tuple[tuple[float, ...], ...], ids: Tensor) -> Tensor:
    """Look up a number for each phrase of answers: ids (N, 4) -> (N, 3)."""
    return torch.tensor(table, dtype=torch.float64)[torch.arange(3), ids[:, 1:]]


def rewards() -> Tensor:
    """Return the reward of every answer, (216,) in float64. The mean under the initial policy is 0."""
    ids = answers()
    found = _of_phrases(VALUES, ids).sum(1) + torch.tensor(FLATTERED, dtype=torch.float64)[flattery(ids)]
    return found - (log_reference().exp() * found).sum()


@lru_cache(maxsize=1)
def _world() -> tuple[Tensor, Tensor, Tensor]:
    return answers(), log_reference().exp(), rewards()


def comparisons(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw `n` comparisons: the answers that people chose and those that they rejected, ids (n, 4) each.

    Both answers of a pair are drawn from the initial policy. The first wins with probability sigmoid(r1 - r2), so
    people do not always choose the better one.
    """
    ids, p, reward = _world()
    pairs = torch.multinomial(p, 2 * n, replacement=True, generator=generator).view(2, n)
    wins = torch.rand(n, generator=generator, dtype=torch.float64) < torch.sigmoid(reward[pairs[0]] - reward[pairs[1]])
    return ids[torch.where(wins, pairs[0], pairs[1])], ids[torch.where(wins, pairs[1], pairs[0])]


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: chosen and rejected answers, ids (512, 4) each."""
    while True:
        yield comparisons(BATCH, generator)
