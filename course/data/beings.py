"""A small English of ten animals and ten things, in which most verbs reveal whether an animal or a thing acts.

    the big fox growls near a bottle .      every lamp flickers .      this fox waits beside the gate .

Written for this course. Three verbs in four belong only to animals or only to things, and the others are neutral.
A noun behind a preposition may be either, so it carries no information. A model that reads many sentences can learn
which nouns are animals without labels. The labelled sentences test this where it cannot be seen: their verbs are
neutral, and half of the nouns have no labels at all.

The language is finite (`FiniteGrammar`), so the best prediction of a hidden word is known as well, by the
forward-backward algorithm over the visible words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import torch
from torch import Tensor

from .finite_grammar import FiniteGrammar
from .side_by_side import side_by_side

ANIMALS = ("dog", "cat", "horse", "bear", "fox", "goat", "duck", "rabbit", "sheep", "mouse")
THINGS = ("lamp", "table", "chair", "clock", "bottle", "wheel", "mirror", "kettle", "ladder", "gate")
WORDS = {
    "verb animal": "sleeps growls barks howls scratches sniffs drools purrs hunts yawns limps hides swims feeds digs",
    "verb thing": "creaks flickers rusts leaks shines cracks rattles melts burns ticks hums tilts breaks rots glows",
    "verb neutral": "waits falls moves stays stands lies turns stops returns vanishes",
    "determiner": "the a this that every some",
    "adjective": "small big grey heavy strange quiet red new dirty lonely beautiful famous tall brown",
    "adverb": "today again often here outside now alone tonight never slowly always together",
    "preposition": "near behind beside under above opposite before against",
}
HIDDEN = 0.3
"""The share of words that are hidden in training."""
BATCH = 64
"""Sentences in a training batch."""
DRAWN = 16 * BATCH
"""Sentences that are drawn at once for the stream and sorted by length."""
LABELS = 50
"""Number of labelled sentences for training."""


def _rules() -> dict[str, list[tuple[float, str]]]:
    rules: dict[str, list[tuple[float, str]]] = {
        "S": [(0.5, "S-animal"), (0.5, "S-thing")],
        "NP": [(0.5, "NP-animal"), (0.5, "NP-thing")],
        "END": [(0.4, "."), (0.2, "adverb ."), (0.4, "preposition NP .")],
    }
    for kind in ("animal", "thing"):
        rules[f"S-{kind}"] = [(0.75, f"NP-{kind} verb-{kind} END"), (0.25, f"NP-{kind} verb-neutral END")]
        rules[f"NP-{kind}"] = [(0.7, f"determiner {kind}"), (0.3, f"determiner adjective {kind}")]
    return rules


@lru_cache(maxsize=1)
def language() -> FiniteGrammar:
    """Return the language, whose probabilities are known."""
    listed = {"animal": ANIMALS, "thing": THINGS} | {name: tuple(words.split()) for name, words in WORDS.items()}
    return FiniteGrammar(
        _rules(), {name.replace(" ", "-"): dict.fromkeys(words, 1.0) for name, words in listed.items()}
    )


@lru_cache(maxsize=1)
def words() -> tuple[str, ...]:
    """Return the vocabulary: padding (id 0), the language's words, and BERT's three special tokens."""
    return ("[PAD]", *language().words[1:], "[CLS]", "[SEP]", "[MASK]")


def cls() -> int:
    """Return the id of `[CLS]`, which begins every sentence."""
    return len(words()) - 3


def sep() -> int:
    """Return the id of `[SEP]`, which ends every sentence."""
    return len(words()) - 2


def mask_id() -> int:
    """Return the id of `[MASK]`, which hides a word."""
    return len(words()) - 1


def encode(text: str) -> Tensor:
    """Return the ids (T,) of the words of a text.

    Raises:
        ValueError: a word is not in the vocabulary.
    """
    number = _numbers()
    unknown = [word for word in text.split() if word not in number]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not in the vocabulary. Choose from: {', '.join(words()[1:])}")
    return torch.tensor([number[word] for word in text.split()], dtype=torch.long)


@cache
def _numbers() -> dict[str, int]:
    return {word: index for index, word in enumerate(words())}


@cache
def animals() -> Tensor:
    """Return the ids of the animals."""
    return encode(" ".join(ANIMALS))


@cache
def nouns() -> Tensor:
    """Return the ids of the animals and the things."""
    return encode(" ".join((*ANIMALS, *THINGS)))


def decode(ids: Tensor) -> str:
    """Return the text of ids (T,), without padding."""
    return " ".join(words()[index] for index in ids.tolist() if index)


def is_special(ids: Tensor) -> Tensor:
    """Return where ids are not words: padding, `[CLS]`, `[SEP]` or `[MASK]`."""
    return (ids == 0) | (ids >= cls())


def packed(sentences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return sentences as `[CLS] a [SEP]`, padded with zeros: ids (B, T), and the mask (B, T), True up to `[SEP]`."""
    lengths = torch.tensor([len(sentence) + 2 for sentence in sentences])
    ids = side_by_side([[cls(), *sentence, sep()] for sentence in sentences])
    return ids, torch.arange(ids.shape[1]) < lengths[:, None]


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: ids (64, T) and mask (64, T) of sentences of similar length."""
    while True:
        drawn = sorted(language().draw_sentences(DRAWN, generator), key=len)
        for number in torch.randperm(DRAWN // BATCH, generator=generator).tolist():
            yield packed(drawn[number * BATCH : (number + 1) * BATCH])


# -- labelled sentences ----------------------------------------------------------------------------------------------


def halves(generator: torch.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the nouns at random into two halves, five animals and five things each."""
    order = [torch.randperm(len(kind), generator=generator).tolist() for kind in (ANIMALS, THINGS)]
    shuffled = [[kind[i] for i in places] for kind, places in zip((ANIMALS, THINGS), order, strict=True)]
    half = len(ANIMALS) // 2
    first, second = (
        tuple(noun for kind in shuffled for noun in kind[part]) for part in (slice(half), slice(half, None))
    )
    return first, second


def labelled(count: int, nouns: Sequence[str], generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw sentences with a neutral verb about `nouns`: ids (B, T), mask (B, T), and labels (B,), 1 for an animal.

    Half of the subjects are animals. A noun behind a preposition is an animal as often as a thing.
    """
    by_kind = [[noun for noun in nouns if (noun in ANIMALS) == animal] for animal in (False, True)]

    def pick(options: Sequence[str]) -> str:
        return options[int(torch.randint(len(options), (), generator=generator))]

    def coin(p: float) -> bool:
        return bool(torch.rand((), generator=generator) < p)

    def phrase(kind: bool) -> list[str]:
        adjective = [pick(WORDS["adjective"].split())] if coin(0.3) else []
        return [pick(WORDS["determiner"].split()), *adjective, pick(by_kind[kind])]

    labels = torch.arange(count)[torch.randperm(count, generator=generator)] % 2
    sentences = []
    for label in labels.tolist():
        said = [*phrase(bool(label)), pick(WORDS["verb neutral"].split())]
        if coin(0.6):
            said += [pick(WORDS["preposition"].split()), *phrase(coin(0.5))]
        sentences.append(encode(" ".join([*said, "."])).tolist())
    return *packed(sentences), labels


# -- true probabilities ----------------------------------------------------------------------------------------------


def guess(inputs: Tensor, mask: Tensor, p: float = HIDDEN) -> Tensor:
    """Return p(word | visible tokens) at every place of inputs (B, T), given that it was chosen: (B, T, V).

    The mask (B, T) is True up to `[SEP]`.

    Inputs follow BERT's recipe: a word is chosen with probability `p`, and becomes `[MASK]` in 80 % of the cases,
    any token in 10 %, and stays in 10 %. Other places may have been changed, too, so they are only evidence. Places
    of `[CLS]`, `[SEP]` or padding get zeros.
    """
    V = len(words())
    emits = torch.zeros(len(language().states), V, dtype=torch.float64)
    emits[:, : len(language().words)] = language().emits
    found = torch.zeros(*inputs.shape, V, dtype=torch.float64)
    lengths = mask.sum(1)
    for length in lengths.unique().tolist():
        rows = (lengths == length).nonzero().squeeze(1)
        found[rows, 1 : length - 1] = _posterior(emits, inputs[rows, 1 : length - 1], p)
    return found


def _posterior(emits: Tensor, seen: Tensor, p: float) -> Tensor:
    """Compute `guess` for the words between `[CLS]` and `[SEP]` of sentences of one length, seen (B, T)."""
    B, T = seen.shape
    V = emits.shape[1]
    chosen = torch.full((B, T, V), 0.1 / V, dtype=torch.float64)  # p(seen | word, chosen), by word
    chosen += 0.8 * (seen == mask_id())[..., None]
    same = torch.nn.functional.one_hot(seen, V)
    chosen += 0.1 * same
    likely = (p * chosen + (1 - p) * same) @ emits.T  # (B, T, S): p(seen | state)
    within = language().within
    before = [language().first.expand(B, -1)]
    for t in range(T - 1):
        onward = (before[-1] * likely[:, t]) @ within
        before.append(onward / onward.sum(1, keepdim=True))
    after = [language().ends.expand(B, -1)]
    for t in range(T - 1, 0, -1):
        back = (after[-1] * likely[:, t]) @ within.T
        after.append(back / back.sum(1, keepdim=True))
    around = torch.stack(before, 1) * torch.stack(after[::-1], 1)  # (B, T, S)
    joint = (around @ emits) * chosen
    return joint / joint.sum(-1, keepdim=True)
