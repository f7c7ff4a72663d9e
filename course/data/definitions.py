"""Texts that topic 15's dictionary wrote, to train a draft of it: 1,072 of 64 tokens each.

    texts = definitions.texts()                          # ids (1024, 64), each begins with wordnet.END
    for rows, ids in stream: ...                         # ids = texts[rows], eight at a time

They were drawn at temperature 1, so at every place the true distribution of the next token is what the dictionary says
there. `make definitions` drew them (`tests/training/draw_definitions.py`). Everything in them is invented.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

FILE = Path(__file__).with_name("definitions.safetensors")
TEXTS, HELD_OUT, PLACES = 1024, 48, 64
"""Texts to train on, texts to judge by, and the tokens of a text."""
BATCH = 8


@lru_cache(maxsize=1)
def _all() -> Tensor:
    return load(FILE.read_bytes())["ids"].long()


def texts() -> Tensor:
    """Return the texts to train on, ids (1024, 64)."""
    return _all()[:TEXTS].clone()


def held_out() -> Tensor:
    """Return the other texts, ids (48, 64), on which a draft is judged."""
    return _all()[TEXTS:].clone()


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, ...]]:
    """Yield eight texts at a time, without end: their rows in `texts()` (8,), and ids (8, 64)."""
    ids = texts()
    while True:
        for rows in torch.randperm(len(ids), generator=generator).split(BATCH):
            yield rows, ids[rows]
