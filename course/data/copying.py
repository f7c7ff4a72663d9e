"""Selective copying: a few letters at random places among noise, which a model must repeat in order at the end.

    · · c · · · a · h · · · 1? 2? 3?   ->   c a h

The token alone shows whether it matters, and the places of letters differ from text to text. So a model has to select
what it stores. Texts are drawn from a seed, and may have any length.

Glossary: B texts, T places, `ASKED` letters in each, followed by as many query tokens.

Source: A. Gu and T. Dao, "Mamba: Linear-Time Sequence Modeling with Selective State Spaces", 2023, section 4.1.1.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

LETTERS = "abcdefgh"
ASKED = 3
"""Number of letters in a text. Each has its own query token at the end."""
NOISE = 0
"""The token of a place without a letter. Letters are 1 to 8, query tokens 9 to 11."""
TOKENS = 1 + len(LETTERS) + ASKED
SHORTEST, LONGEST = 8, 64
"""Range of places in a training text, drawn uniformly. All texts of a batch have the same number."""
BATCH = 32
CONSTANT_STEP = {16: 0.75, 32: 0.80, 64: 0.76, 128: 0.57, 256: 0.40, 512: 0.33}
"""Share of right letters by number of places, of our model with one step size for all tokens, over ten seeds."""


def draw(n: int, places: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw `n` texts of T places: ids (n, T + ASKED), and their letters in order as targets (n, ASKED).

    Targets are indices of `LETTERS`, from 0. A letter may occur twice.

    Raises:
        ValueError: there are fewer places than letters.
    """
    if places < ASKED:
        raise ValueError(f"{ASKED} letters need {ASKED} places at least; {places} were asked for")
    where = torch.rand(n, places, generator=generator).argsort(1)[:, :ASKED].sort(1).values
    targets = torch.randint(len(LETTERS), (n, ASKED), generator=generator)
    text = torch.full((n, places), NOISE).scatter(1, where, 1 + targets)
    askers = 1 + len(LETTERS) + torch.arange(ASKED)
    return torch.cat([text, askers.expand(n, ASKED)], dim=1), targets


def text(ids: Tensor) -> str:
    """Return one text (T + ASKED,) in readable form: `· c · a · 1? 2?`."""
    written = ["·", *LETTERS, *(f"{i}?" for i in range(1, ASKED + 1))]
    return " ".join(written[token] for token in ids.tolist())


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: ids (B, T + ASKED), targets (B, ASKED)."""
    while True:
        places = int(torch.randint(SHORTEST, LONGEST + 1, (), generator=generator))
        yield draw(BATCH, places, generator)
