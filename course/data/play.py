"""An endless play: two people speak in turn, and each line begins with a name and a surname.

    Greta Marsh: the cook tastes some warm bread .
    Hugo Vale: every lamb near the river never sleeps .
    Greta Marsh: now two sailors return to the harbour .

Written for this course. A text has two of eight speakers, who get a surname each, one of sixteen and new in every
text. The next speaker is drawn with equal probability. A line is a sentence of `grammar`. So the probability of every
token is known, and a model that looks back can know a surname for certain from its second use on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import torch
from torch import Tensor

from . import grammar

LENGTH = 64
"""Tokens of a text that a model reads. One more is drawn for the last target."""
BATCH = 8
"""Texts in a training batch."""
DRAWN = 32 * BATCH
"""Texts that are drawn at once for the stream."""
ENTROPY = 2.604
"""Nats per word of the grammar's sentences, measured on 400 texts: no model can reach less."""
RUNS = ((1600, 3.095), (3200, 2.779), (6400, 2.664), (12_800, 2.626), (25_600, 2.615))
"""Texts that the model of topic 15's notebook read in training, and its loss on words of 400 other texts, in nats.

Each is the mean of four trainings with the notebook's own loop, with a learning rate that falls to zero.
"""
SENTENCES = 512
"""Sentences that are drawn at once."""
SURNAMES = (
    *("Brook:", "Cliff:", "Dale:", "Field:", "Ford:", "Glen:", "Heath:", "Hill:"),
    *("Lake:", "Marsh:", "Moor:", "Reed:", "Shore:", "Stone:", "Vale:", "Wood:"),
)
"""The speakers. Each name is one token, including its colon."""
SPEAKERS = tuple(grammar.OTHERS["name"].split())


@lru_cache(maxsize=1)
def words() -> tuple[str, ...]:
    """Return the vocabulary: the grammar's words, then the surnames, each with its colon."""
    return (*grammar.language().words, *SURNAMES)


def decode(ids: Tensor, cast: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the text of ids (T,), one line for each speech, without the full stop in front.

    `cast` has other names for speakers: `{"Boris": "Maria"}`.
    """
    said = " ".join(cast.get(word, word) for word in (words()[token] for token in ids.tolist()))
    return said.removeprefix(grammar.STOP).strip().replace(" . ", " .\n")


def draw(n: int, generator: torch.Generator, length: int = LENGTH) -> Tensor:
    """Draw `n` texts, ids (n, length + 1): a full stop, then line after line, the last one truncated."""
    english, first_surname = grammar.language(), len(grammar.language().words)
    speakers = english.encode(SPEAKERS)
    pairs = torch.rand(n, len(SPEAKERS), generator=generator).argsort(1)[:, :2]  # (n, 2)
    surnames = torch.randint(len(SURNAMES), (n, 2), generator=generator)
    turns = torch.randint(2, (n, length), generator=generator)  # more than there are lines
    said = _sentences(generator)
    texts = torch.empty(n, length + 1, dtype=torch.long)
    for row in range(n):
        text = [english.ids[grammar.STOP]]
        for turn in turns[row].tolist():
            text += [int(speakers[pairs[row, turn]]), first_surname + int(surnames[row, turn]), *next(said)]
            if len(text) > length:
                break
        texts[row] = torch.tensor(text[: length + 1])
    return texts


def _sentences(generator: torch.Generator) -> Iterator[list[int]]:
    """Yield endless sentences of the grammar."""
    while True:
        yield from grammar.language().draw_sentences(SENTENCES, generator)


def next_token(ids: Tensor) -> Tensor:
    """Return p(next token | tokens so far) at every place of ids (B, T), which begin with a full stop: (B, T, V)."""
    B, T = ids.shape
    found = torch.zeros(B, T, len(words()), dtype=torch.float64)
    begun: list[tuple[int, int, list[int]]] = []  # row and place of a surname, and the sentence behind it
    for row, text in enumerate(ids.tolist()):
        known: dict[int, int] = {}
        place = 0
        while place < T:  # at the full stop before a line
            found[row, place] = _who_speaks(tuple(known))
            if place + 1 < T:
                found[row, place + 1] = _surname_of(text[place + 1], known)
            if place + 2 < T:
                known[text[place + 1]] = text[place + 2]
                end = _line_end(text, place + 3)
                begun.append((row, place + 2, text[place + 3 : end]))
                place = end
            else:
                place = T
    _fill_in_sentences(found, begun)
    return found


def _line_end(text: list[int], start: int) -> int:
    """Return the place of the full stop after a sentence that begins at `start`, or the text's length."""
    stop = grammar.language().ids[grammar.STOP]
    return next((place for place in range(start, len(text)) if text[place] == stop), len(text))


def _who_speaks(known: tuple[int, ...]) -> Tensor:
    """Return the probabilities of the next speaker, (V,), given the speakers known so far."""
    p = torch.zeros(len(words()), dtype=torch.float64)
    speakers = grammar.language().encode(SPEAKERS)
    share = (1.0, 0.5, 0.0)[len(known)]  # probability of a new speaker
    p[speakers] = share / (len(SPEAKERS) - len(known))
    for speaker in known:
        p[speaker] = 0.5
    return p


def _surname_of(speaker: int, known: dict[int, int]) -> Tensor:
    """Return the probabilities of the surname after a speaker, (V,): the known one, or all of them."""
    p = torch.zeros(len(words()), dtype=torch.float64)
    if speaker in known:
        p[known[speaker]] = 1.0
    else:
        p[-len(SURNAMES) :] = 1 / len(SURNAMES)
    return p


def _fill_in_sentences(found: Tensor, begun: list[tuple[int, int, list[int]]]) -> None:
    """Write p of every word of the sentences into `found`, processing sentences of similar length together."""
    in_order = sorted(begun, key=lambda line: len(line[2]))
    for start in range(0, len(in_order), SENTENCES // 8):
        some = in_order[start : start + SENTENCES // 8]
        padded = torch.zeros(len(some), len(some[-1][2]), dtype=torch.long)
        for line, (_, _, sentence) in enumerate(some):
            padded[line, : len(sentence)] = torch.tensor(sentence)
        padded[padded >= len(grammar.language().words)] = 0  # a name within a sentence is impossible
        p = grammar.language().next_word(padded)  # (lines, words + 1, the grammar's V)
        for line, (row, place, sentence) in enumerate(some):
            found[row, place : place + len(sentence) + 1, : p.shape[-1]] = p[line, : len(sentence) + 1]


def is_surname(ids: Tensor) -> Tensor:
    """Return where ids are surnames, a bool tensor of the same shape."""
    return ids >= len(words()) - len(SURNAMES)


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor]]:
    """Yield endless training batches: texts, ids (8, 65)."""
    while True:
        yield from ((ids,) for ids in draw(DRAWN, generator).split(BATCH))
