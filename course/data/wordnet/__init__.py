"""A dictionary of words that do not exist: the weights of a small GPT that read WordNet's definitions.

`model_card.md`, beside this file, describes its training, its quality and its weaknesses. The weights and the merges of
its tokenizer were made by `make weights` (`tests/training/pretrain_gpt.py`).

    model = GPT(**wordnet.SIZES).load_published(wordnet.weights())
    logits, cache = model(wordnet.prompt("blorbel", "plant"))

Texts end with token 0, the byte 0, which no text contains. Each text also follows one.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

from ..bpe_merges import apply_merges, read_merges
from ..words import words_of

FOLDER = Path(__file__).parent
WEIGHTS, MERGES, CARD = FOLDER / "weights.safetensors", FOLDER / "merges.safetensors", FOLDER / "model_card.md"
SIZES = {"vocab": 2048, "d_model": 160, "n_layers": 4, "n_heads": 4, "n_groups": 2, "d_ff": 432}
"""The arguments with which the GPT was built."""

END = 0
"""The token that ends every text, and also precedes its first token."""

_CONTROL = dict.fromkeys(range(9))
"""The characters up to 8, which are control characters. Their bytes are tokens with a meaning, `END` among them."""

KINDS = (
    *("act", "adjective", "adverb", "animal", "attribute", "body part", "communication", "event", "feeling", "food"),
    *("group", "idea", "made thing", "motive", "natural thing", "person", "phenomenon", "place", "plant"),
    *("possession", "process", "quantity", "relation", "shape", "state", "substance", "thing", "time", "verb"),
)
"""The kinds of words in WordNet's files, by short names."""


@lru_cache(maxsize=1)
def _content() -> bytes:
    return WEIGHTS.read_bytes()


def weights() -> dict[str, Tensor]:
    """Return the weights by their published names: float16 tensors on the CPU, new ones at each call."""
    return dict(load(_content()))


@lru_cache(maxsize=1)
def merges() -> tuple[tuple[bytes, bytes], ...]:
    """Return the tokenizer's merges in their order: merge k makes token 256 + k, and byte b is token b."""
    return tuple(read_merges(MERGES))


@lru_cache(maxsize=1)
def pieces() -> tuple[bytes, ...]:
    """Return the bytes that each token stands for."""
    return (*(bytes([b]) for b in range(256)), *(first + second for first, second in merges()))


@lru_cache(maxsize=1)
def _ranks() -> dict[tuple[bytes, bytes], int]:
    return {pair: rank for rank, pair in enumerate(merges())}


@lru_cache(maxsize=1)
def _numbers() -> dict[bytes, int]:
    return {piece: number for number, piece in enumerate(pieces())}


@lru_cache(maxsize=100_000)
def _tokens_of(word: str) -> tuple[int, ...]:
    """Return the tokens of one word."""
    return tuple(_numbers()[piece] for piece in apply_merges(word.encode(), _ranks()))


def encode(text: str) -> list[int]:
    """Return the tokens of `text`, as `bpe_encode` cuts it, by their numbers.

    The control characters 0 to 8 are left out. Their bytes are special tokens, such as `END` and those of
    `course.data.chat`, and no text that somebody types may contain one.
    """
    return [token for word in words_of(text.translate(_CONTROL)) for token in _tokens_of(word)]


def decode(tokens: list[int]) -> str:
    """Return the text of `tokens` up to the first `END`. Incomplete characters become �."""
    if END in tokens:
        tokens = tokens[: tokens.index(END)]
    return b"".join(pieces()[token] for token in tokens).decode(errors="replace")


def prompt(word: str, kind: str) -> Tensor:
    """Return the beginning of a definition as ids (1, T), with `END` in front.

    Raises:
        ValueError: there is no such kind. The message lists them.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind is called {kind!r}; the kinds are {', '.join(KINDS)}")
    return torch.tensor([[END, *encode(f"{word} ({kind}):")]])


def card() -> str:
    """Return the model card, in Markdown."""
    return CARD.read_text(encoding="utf-8")
