"""A typist with typing errors: now and then a key next to the intended one is hit.

    the meaning of a word       tje meaning of a eord

The 27 symbols are the blank and the letters from a to z, and the keyboard is the one that begins with `qwerty`. A blank
is always right. Every other key is missed with the same probability, and then each of its neighbours is equally likely.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor

SYMBOLS = " abcdefghijklmnopqrstuvwxyz"
ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
"""The rows of keys, and each row's shift to the right, in key widths."""


def neighbours(letter: str) -> str:
    """Return the keys that touch a letter's key, in alphabetical order: `a` has q, s, w and z. A blank has none."""
    places = {key: (row, shift + column) for row, (keys, shift) in enumerate(ROWS) for column, key in enumerate(keys)}
    if letter not in places:
        return ""
    row, x = places[letter]
    near = (key for key, (r, at) in places.items() if key != letter and abs(r - row) <= 1 and abs(at - x) <= 1)
    return "".join(sorted(near))


def emissions(noise: float) -> Tensor:
    """Return the probabilities (27, 27) of the typed symbol, one row for each intended symbol."""
    E = torch.zeros(len(SYMBOLS), len(SYMBOLS))
    for i, letter in enumerate(SYMBOLS):
        near = neighbours(letter)
        E[i, i] = 1 - noise * bool(near)
        for other in near:
            E[i, SYMBOLS.index(other)] = noise / len(near)
    return E


def plain(text: str) -> str:
    """Reduce a text to small letters from a to z, with one blank in place of anything else."""
    return re.sub("[^a-z]+", " ", text.lower()).strip()


def encode(text: str) -> Tensor:
    """Return the numbers of the symbols of a plain text: a LongTensor (T,)."""
    return torch.tensor([SYMBOLS.index(symbol) for symbol in text], dtype=torch.long)


def decode(ids: Tensor) -> str:
    """Return the text of these numbers."""
    return "".join(SYMBOLS[i] for i in ids.tolist())


def type_it(ids: Tensor, noise: float, generator: torch.Generator) -> Tensor:
    """Return a text (T,) with typing errors: each symbol is drawn from its row of `emissions`."""
    return torch.multinomial(emissions(noise)[ids], 1, generator=generator).squeeze(1)
