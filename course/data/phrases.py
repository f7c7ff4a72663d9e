"""English sentences and their French translations from a small transfer grammar, with the alignment of their words.

    my tired bird is big .                 mon oiseau fatigué est grand .
    she does not see the small black cat . elle ne voit pas le petit chat noir .

There are 20,000 pairs for training, the same for everyone, and the grammar makes millions more
(`course.data.transfer`). A checksum of the English words decides whether a sentence may be used for training. So
held-out sentences occur in no stream and in nothing that `load` returns.

Glossary: B pairs in a batch, S English words, T French words, the end included.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from . import transfer
from .cache import datasets_library, kept
from .side_by_side import side_by_side

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PAD, SOS, EOS = 0, 1, 2
SPECIAL = ("<pad>", "<sos>", "<eos>")
"""The first ids of both vocabularies."""
TRAIN, VALIDATION = 20_000, 1_000
"""Number of pairs in the splits that `load` returns."""
BATCH = 64
"""Pairs in a training batch."""
SHARES = 10
"""Of ten shares by checksum, one is held out from training, and one is for validation."""

Pair = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]
"""English words, French words, and for each French word the position of the English one that it comes from."""


def draw(count: int, chance: random.Random, share: str = "held out") -> list[Pair]:
    """Draw `count` different pairs of a share: "train", "validation", or "held out" of both.

    Raises:
        ValueError: there is no such share.
    """
    if share not in ("held out", "validation", "train"):
        raise ValueError(f"no share is called {share!r}; there are 'train', 'validation' and 'held out'")
    found: dict[tuple[str, ...], Pair] = {}
    while len(found) < count:
        clause = transfer.draw(chance)
        english = transfer.english(clause)
        words = tuple(word for word, _ in english)
        if _share(words) == share:
            found[words] = _pair(clause)
    return list(found.values())


def aligned(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the French of an English sentence, and for each French word the position of its English one.

    Raises:
        ValueError: the words are not a sentence of the grammar.
    """
    return _pair(transfer.analyse(words))[1:]


def _pair(clause: transfer.Clause) -> Pair:
    english, french = transfer.english(clause), transfer.french(clause)
    place = {part: index for index, (_, part) in enumerate(english)}
    return (
        tuple(word for word, _ in english),
        tuple(word for word, _ in french),
        tuple(place[part] for _, part in french),
    )


def _share(words: Sequence[str]) -> str:
    number = zlib.crc32(" ".join(words).encode()) % SHARES
    return {0: "held out", 1: "validation"}.get(number, "train")


@cache
def vocabulary(language: str) -> tuple[str, ...]:
    """Return all words of "english" or "french" by id, `SPECIAL` first, then in alphabetical order."""
    words = transfer.english_words() if language == "english" else transfer.french_words()
    return (*SPECIAL, *sorted(words))


def encode(sentences: Sequence[Sequence[str]], language: str) -> Tensor:
    """Return ids (B, T) of sentences as lists of words, each followed by EOS and padding.

    Raises:
        ValueError: a word is not in the vocabulary. The message names it.
    """
    ids = _ids(language)
    unknown = sorted({word for words in sentences for word in words if word not in ids})
    if unknown:
        raise ValueError(f"these words are not in the {language} vocabulary: {', '.join(unknown)}")
    return side_by_side([[*(ids[word] for word in words), EOS] for words in sentences])


@cache
def _ids(language: str) -> dict[str, int]:
    return {word: i for i, word in enumerate(vocabulary(language))}


def decode(ids: Tensor, language: str) -> list[str]:
    """Return the words of one sentence (T,), up to its EOS, without padding."""
    words = vocabulary(language)
    said = ids.tolist()
    end = said.index(EOS) if EOS in said else len(said)
    return [words[i] for i in said[:end] if i != PAD]


def load() -> DatasetDict:
    """Return splits train and validation, with columns english and french (text) and alignment (positions)."""

    def make() -> DatasetDict:
        library = datasets_library()

        def rows(pairs: list[Pair]) -> Dataset:
            return library.Dataset.from_dict(
                {
                    "english": [" ".join(english) for english, _, _ in pairs],
                    "french": [" ".join(french) for _, french, _ in pairs],
                    "alignment": [list(places) for _, _, places in pairs],
                }
            )

        validation = draw(VALIDATION, random.Random(1), "validation")
        return library.DatasetDict({"train": rows(_training_pairs()), "validation": rows(validation)})

    return kept("phrases-1", make)


def _training_pairs() -> list[Pair]:
    return draw(TRAIN, random.Random(0), "train")


@cache
def _training_ids() -> tuple[Tensor, Tensor]:
    pairs = _training_pairs()
    return encode([english for english, _, _ in pairs], "english"), encode([french for _, french, _ in pairs], "french")


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches of similar lengths: English ids (B, S), French ids (B, T), with EOS, padded.

    The 20,000 pairs come in a new order in each epoch.
    """
    english, french = _training_ids()
    lengths = (french != PAD).sum(1)
    while True:
        order = torch.randperm(len(french), generator=generator)[: len(french) // BATCH * BATCH]
        order = order[lengths[order].sort(stable=True).indices]  # sorted by length, but in random order within a length
        groups = order.view(-1, BATCH)
        for rows in groups[torch.randperm(len(groups), generator=generator)]:
            yield _cut(english[rows]), _cut(french[rows])


def _cut(ids: Tensor) -> Tensor:
    """Return ids without the columns that are padding in every row."""
    return ids[:, : int((ids != PAD).sum(1).max())]
