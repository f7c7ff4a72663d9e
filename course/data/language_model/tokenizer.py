"""The tokeniser of SmolLM2: byte-pair encoding on GPT-2's words, with every digit alone.

Its file writes bytes as characters that can be printed, as GPT-2 does. Here pieces are bytes, as in topic 13.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..bpe_merges import apply_merges

BEGIN, END = "<|im_start|>", "<|im_end|>"
CONTROL = 3
"""The type of a token that stands for no text, such as the one that begins a turn."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    r"""Return what matches a digit, and GPT-2's pattern for a word, in which there are no digits any more.

    Python's `re` lacks `\p{N}`, and its `\s` has four control characters that GPT-2's does not have.
    """
    numbers = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "N")
    letter, space = rf"[^\W_{numbers}]", r"[^\S\x1c-\x1f]"
    sign = rf"(?:(?!{letter}|{space}).)"
    word = rf"'(?:s|t|re|ve|m|ll|d)| ?{letter}+| ?{sign}+|{space}+(?!(?!{space}).)|{space}+"
    return re.compile(f"([{numbers}])"), re.compile(word, re.DOTALL)


def smollm_words(text: str) -> list[str]:
    """Return the words of `text`, in order, inside which pieces are merged. Joined again, they are the text."""
    digit, word = _patterns()
    runs = digit.split(text)  # text and digits take turns
    return [found for i, run in enumerate(runs) for found in ([run] if i % 2 else word.findall(run))]


@lru_cache(maxsize=1)
def _bytes() -> dict[str, int]:
    """Return the byte for each of the 256 characters of GPT-2: itself if it can be printed, else from 256 on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(others)}


def _as_bytes(written: str) -> bytes:
    return bytes(_bytes()[character] for character in written)


class Tokenizer:
    """Tokens and merges, and what goes from text to tokens and back.

    Attributes:
        tokens: what each token stands for, as bytes.
        merges: the pairs of pieces to merge, in order, as topic 13's `bpe_encode` takes them.
        control: the tokens that stand for no text, by their names, such as `<|im_start|>`.
        begin: the token that begins a turn of a chat.
        end: the token that ends one.
    """

    def __init__(self, tokens: Sequence[str], merges: Iterable[str], types: Sequence[int]) -> None:
        self.control = {tokens[number]: number for number, kind in enumerate(types) if kind == CONTROL}
        self.tokens = [w.encode() if w in self.control else _as_bytes(w) for w in tokens]
        pairs = (merge.split(" ") for merge in merges)
        self.merges = [(_as_bytes(first), _as_bytes(second)) for first, second in pairs]
        self.begin, self.end = self.control[BEGIN], self.control[END]
        of_text = set(range(len(tokens))) - set(self.control.values())
        self._numbers = {self.tokens[number]: number for number in sorted(of_text)}
        self._ranks = {pair: rank for rank, pair in enumerate(self.merges)}
        self._names = re.compile("(" + "|".join(map(re.escape, self.control)) + ")")
        self._tokens_of = lru_cache(maxsize=100_000)(self._cut)

    def encode(self, text: str, control: bool = False) -> list[int]:
        """Return the tokens of `text`. With `control`, names such as `<|im_start|>` in it become the tokens they name.

        Without it, such a name is text like any other. Bytes for which there is no token, such as 0x1D, are left out.
        """
        if not control:
            return [token for word in smollm_words(text) for token in self._tokens_of(word)]
        parts = self._names.split(text)  # text and names take turns
        return [n for i, part in enumerate(parts) for n in ([self.control[part]] if i % 2 else self.encode(part))]

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of `tokens`. Incomplete characters become �."""
        return b"".join(self.tokens[token] for token in tokens).decode(errors="replace")

    def _cut(self, word: str) -> tuple[int, ...]:
        known = bytes(byte for byte in word.encode() if bytes([byte]) in self._numbers)
        return tuple(self._numbers[piece] for piece in apply_merges(known, self._ranks))
