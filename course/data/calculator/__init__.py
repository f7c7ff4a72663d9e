"""A pocket calculator with one digit, and a small GPT that learned it from worked examples.

Keys are pressed in order, and only the last digit stays: `3+8*5+9*4` is 1, 5, 4 and at last 6. A worked example
rewrites the line step by step, `=1*5+9*4=5+9*4=4*4=6;`. Most people only wrote the result, `=6;`. Written for this
course.

`model_card.md`, beside this file, says what the weights were trained on. They were made by `make calculator`
(`tests/training/pretrain_calculator.py`).

    model = blocks.GPT(**calculator.SIZES).load_published(calculator.weights())

Glossary: B questions, T tokens, m tokens of an answer. A question has 9 tokens, the longest worked example 21 more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

FOLDER = Path(__file__).parent
WEIGHTS, CARD = FOLDER / "weights.safetensors", FOLDER / "model_card.md"
TOKENS = "0123456789+*=;"
"""The tokens, one character each. Their ids are their places."""
END = TOKENS.index(";")
"""The token that ends an answer."""
DIGITS, LENGTH = 5, 9
"""Digits and tokens of a question."""
LONGEST = 21
"""Tokens of the longest worked example, its end included."""
QUESTIONS, GROUP = 32, 8
"""Questions in a training batch, and answers to each of them."""
SIZES = {"vocab": len(TOKENS), "d_model": 48, "n_layers": 2, "n_heads": 4, "n_groups": 2, "d_ff": 128}
"""The arguments with which `blocks.GPT` was built: 51,600 numbers in all."""


def encode(text: str) -> list[int]:
    """Return the ids of a text of `TOKENS`."""
    return [TOKENS.index(token) for token in text]


def decode(ids: list[int]) -> str:
    """Return the text of ids."""
    return "".join(TOKENS[token] for token in ids)


def value(line: str) -> int:
    """Press the keys of a line such as `3+8*5` in order, and return the digit that stays.

    Raises:
        ValueError: the line is not made of digits with + or * between them.
    """
    digits, keys = line[::2], line[1::2]
    if len(digits) != len(keys) + 1 or not set(digits) <= set(TOKENS[:10]) or not set(keys) <= set("+*"):
        raise ValueError(f"{line!r} is not made of digits with + or * between them")
    shown = int(digits[0])
    for key, digit in zip(keys, digits[1:], strict=True):
        shown = (shown + int(digit) if key == "+" else shown * int(digit)) % 10
    return shown


def worked(line: str) -> str:
    """Return the answer to a line with its steps: `3+8*5` -> `=1*5=5;`."""
    written = ""
    while len(line) > 1:
        line = f"{value(line[:3])}{line[3:]}"
        written += f"={line}"
    return written + TOKENS[END]


def questions(n: int, generator: torch.Generator, digits: int = DIGITS) -> list[str]:
    """Draw `n` lines of so many digits from 1 to 9, with + or * between them by a coin."""
    numbers = torch.randint(1, 10, (n, digits), generator=generator).tolist()
    coins = torch.randint(2, (n, digits - 1), generator=generator).tolist()
    keys = [["+*"[coin] for coin in row] + [""] for row in coins]
    return ["".join(f"{d}{key}" for d, key in zip(*row, strict=True)) for row in zip(numbers, keys, strict=True)]


def prompts(lines: list[str]) -> Tensor:
    """Return lines of one length as ids (B, T)."""
    return torch.tensor([encode(line) for line in lines])


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: 32 questions 8 times each, ids (256, 9), and what is right, (256,).

    The eight rows of a question follow one another. Each row is there to be answered once.
    """
    while True:
        lines = questions(QUESTIONS, generator)
        right = torch.tensor([value(line) for line in lines])
        yield prompts(lines).repeat_interleave(GROUP, 0), right.repeat_interleave(GROUP)


@lru_cache(maxsize=1)
def _content() -> bytes:
    return WEIGHTS.read_bytes()


def weights() -> dict[str, Tensor]:
    """Return the supervised weights by their names in `blocks.GPT`: float16 tensors on the CPU, new at each call."""
    return dict(load(_content()))


def card() -> str:
    """Return the model card, in Markdown."""
    return CARD.read_text(encoding="utf-8")
