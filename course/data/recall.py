"""Associative recall: a model reads a list of pairs and then one of the keys, and answers with its value.

    k4  a7  q0  b3  ...  a?   ->   7

Keys are letters, all different within a list. Values are digits and may repeat. A model must *look up* the answer,
because it reads the query only after the whole list. The lists are drawn from a seed, so their number is unlimited,
and held-out lists cost nothing.

Glossary: B lists, S pairs (slots) in each.

Source: the idea is that of J. Ba et al., "Using Fast Weights to Attend to the Recent Past", NeurIPS 2016, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library

if TYPE_CHECKING:
    from datasets import Dataset

KEYS = "abcdefghijklmnopqrstuvwxyz"
VALUES = "0123456789"
SLOTS = 8
"""Default number of pairs in a list. For more, a state of a few dozen units is hardly large enough."""

BATCH = 100
"""Lists in a training batch."""


def draw(n: int, generator: torch.Generator, slots: int = SLOTS) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Draw `n` lists: keys (n, S), values (n, S), query (n,) and answer (n,), all LongTensors.

    `keys` and `query` are indices of `KEYS`, `values` and `answer` of `VALUES`. All randomness is from `generator`.

    Raises:
        ValueError: there are not that many different keys, or `slots` is less than one.
    """
    if not 1 <= slots <= len(KEYS):
        raise ValueError(f"a list holds 1 to {len(KEYS)} pairs, one a letter; {slots} were asked for")
    keys = torch.rand(n, len(KEYS), generator=generator).argsort(dim=1)[:, :slots]  # a shuffled alphabet, cut
    values = torch.randint(len(VALUES), (n, slots), generator=generator)
    asked = torch.randint(slots, (n, 1), generator=generator)
    return keys, values, keys.gather(1, asked).squeeze(1), values.gather(1, asked).squeeze(1)


def text(keys: Tensor, values: Tensor, query: Tensor) -> str:
    """Return one list, keys (S,), values (S,) and a single query, in readable form: `k4 a7 q0 a?`."""
    pairs = (KEYS[key] + VALUES[value] for key, value in zip(keys.tolist(), values.tolist(), strict=True))
    return " ".join([*pairs, KEYS[int(query)] + "?"])


def load(rows: int = 2000, slots: int = SLOTS, seed: int = 0) -> Dataset:
    """Return `rows` lists with columns text, keys, values, query and answer, always the same for one seed.

    They are drawn faster than a cache could be read, so they are not cached.
    """
    keys, values, query, answer = draw(rows, torch.Generator().manual_seed(seed), slots)
    return datasets_library().Dataset.from_dict(
        {
            "text": [text(*row) for row in zip(keys, values, query, strict=True)],
            "keys": keys.tolist(),
            "values": values.tolist(),
            "query": query.tolist(),
            "answer": answer.tolist(),
        }
    )


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield endless training batches: keys (B, S), values (B, S), query (B,), answer (B,)."""
    while True:
        yield draw(BATCH, generator)
