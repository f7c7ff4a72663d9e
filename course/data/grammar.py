"""A small English with known probabilities of all sentences and known word classes.

    the cook who these ducks follow tastes some warm bread tonight .
    every lamb near the river never sleeps .     today Ada hopes that two sailors return to the harbour .

Written for this course as a probabilistic grammar. A verb agrees with its subject, whatever comes between them.
People and animals do different things, and only food is eaten. Some words belong to two classes: a cook cooks, and
lamb is an animal and a meal. The rules are known, and so are the probability of every sentence, the best possible
prediction of every word, and its class. So language models and word vectors can be compared with the truth.

The text never ends, and is drawn from a seed. `language()` computes with it, see `FiniteGrammar`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library
from .finite_grammar import FiniteGrammar
from .side_by_side import side_by_side

if TYPE_CHECKING:
    from datasets import DatasetDict

TEXTS = 256
"""Texts that are drawn at once for the stream. A step takes the same time for one and for many."""
BATCH = 512
"""Words of running text in a training batch."""
SENTENCES = 64
"""Sentences in a training batch of a language model."""
DRAWN = 64 * SENTENCES
"""Sentences that are drawn at once for such batches."""
STOP = "."
"""The end of every sentence, and of nothing else."""

KINDS = ("person", "animal")
NUMBERS = ("sg", "pl")

NOUNS = {
    "person": "teacher farmer baker doctor painter sailor singer cook guide neighbour",
    "animal": "dog cat horse bear fox goat chicken lamb duck rabbit",
}
VERBS = {
    "of a person": "laugh smile sing dance whistle yawn blush sneeze nod pray",
    "of an animal": "sleep growl howl bark hiss roar scratch sniff purr drool",
    "about food": "eat taste smell steal hide chew share drop cook bring",
    "about somebody": "see follow like watch help hear trust fear guide meet",
    "of motion": "walk run hurry return wander travel come march rush crawl",
    "of mind": "think say know hope believe claim doubt dream",
}
OTHERS = {
    "name": "Ada Boris Chloe Dara Emil Farid Greta Hugo",
    "food": "bread soup cheese honey rice fruit cake chicken lamb duck",
    "place": "garden market river forest village kitchen bridge harbour meadow library",
    "mood": "happy tired brave clever lonely hungry gentle proud",
    "taste": "sweet salty fresh warm bitter crisp stale spicy",
    "frequency": "often never always rarely sometimes usually seldom gladly",
    "closing": "today tonight now again outside here quietly indoors",
    "position": "near in behind beside by under above opposite",
    "direction": "to into past around through across along towards",
    "determiner sg": "the a every this each one",
    "determiner pl": "the some many these few two",
    "determiner of food": "the some more this",
}


def _added_s(word: str) -> str:
    """Return the plural of a noun, or the third person of a verb."""
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2] not in "aeiou" else word + "s"


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, dict[str, float]]:
    """Return class -> word -> weight. The first word of a class is the most frequent, about three times the last."""
    listed = {name: words.split() for name, words in OTHERS.items()}
    for kind, words in NOUNS.items():
        listed[f"{kind} sg"] = words.split()
        listed[f"{kind} pl"] = [_added_s(word) for word in words.split()]
    for kind, words in VERBS.items():
        listed[f"verb {kind} sg"] = [_added_s(word) for word in words.split()]
        listed[f"verb {kind} pl"] = words.split()
    return {_symbol(name): {w: 1 / (rank + 4) for rank, w in enumerate(words)} for name, words in listed.items()}


def _symbol(name: str) -> str:
    """Return a class's name as one symbol of a rule."""
    return name.replace(" ", "-")


def _rules() -> dict[str, list[tuple[float, str]]]:
    rules: dict[str, list[tuple[float, str]]] = {
        "S": [(0.88, "CLAUSE END"), (0.12, "closing , CLAUSE END")],
        "END": [(0.75, "."), (0.25, "closing .")],
        "CLAUSE": [
            (0.3, "CLAUSE-person-sg"),
            (0.3, "CLAUSE-person-pl"),
            (0.2, "CLAUSE-animal-sg"),
            (0.2, "CLAUSE-animal-pl"),
        ],
        "SOMEBODY": [(0.25, f"{kind}-{number}-NP") for kind in KINDS for number in NUMBERS],
        "FOOD": [
            (0.45, "determiner-of-food food"),
            (0.2, "determiner-of-food taste food"),
            (0.2, "taste food"),
            (0.15, "food"),
        ],
    }
    for number in NUMBERS:
        rules |= _about(number)
    return rules


def _about(number: str) -> dict[str, list[tuple[float, str]]]:
    """Return the rules for singular or plural, so that verbs agree."""
    rules: dict[str, list[tuple[float, str]]] = {}
    named = 0.35 if number == "sg" else 0.0
    for kind, pronoun in zip(KINDS, ("who", "that"), strict=True):
        short, whole, verb = f"{kind}-{number}-NP", f"{kind}-{number}-SUBJECT", f"VP-{kind}-{number}"
        alone = f"verb-of-{'a' if kind == 'person' else 'an'}-{kind}-{number}"
        name = named if kind == "person" else 0.0
        noun = f"determiner-{number} {kind}-{number}"
        rules[f"CLAUSE-{kind}-{number}"] = [(0.8, f"{whole} {verb}"), (0.2, f"{whole} frequency {verb}")]
        rules[short] = [(name, "name"), (0.65 * (1 - name), noun), (0.35 * (1 - name), noun.replace(" ", " mood "))]
        rules[whole] = [
            (0.66, short),
            (0.12, f"{noun} position determiner-sg place"),
            (0.11, f"{noun} {pronoun} {alone}"),
            (0.05, f"{noun} {pronoun} verb-about-somebody-{number} SOMEBODY"),
            *((0.015, f"{noun} {pronoun} {k}-{n}-NP verb-about-somebody-{n}") for k in KINDS for n in NUMBERS),
        ]
        thinks = 0.12 if kind == "person" else 0.0
        rules[verb] = [
            (0.3, alone),
            (0.22 - thinks / 2, f"verb-about-food-{number} FOOD"),
            (0.26 - thinks / 2, f"verb-about-somebody-{number} SOMEBODY"),
            (0.22, f"verb-of-motion-{number} direction determiner-sg place"),
            (thinks, f"verb-of-mind-{number} that CLAUSE"),
        ]
    return {symbol: [(p, expansion) for p, expansion in options if p > 0] for symbol, options in rules.items()}


@lru_cache(maxsize=1)
def language() -> FiniteGrammar:
    """Return the language: its words, its probabilities, and everything that can be computed with them."""
    return FiniteGrammar(_rules(), _lexicon())


def classes() -> dict[str, list[str]]:
    """Return every word class ('person sg', 'verb of motion pl', 'place') with its words, the most frequent first."""
    return {symbol.replace("-", " "): list(words) for symbol, words in _lexicon().items()}


def class_table() -> Tensor:
    """Return which word is in which class, a bool tensor (V, number of classes): rows by id, columns as `classes`."""
    table = torch.zeros(len(language().words), len(classes()), dtype=torch.bool)
    for column, words in enumerate(classes().values()):
        table[language().encode(words), column] = True
    return table


def load(sentences: int = 5000, held_out: int = 1000, seed: int = 0) -> DatasetDict:
    """Return splits `train` and `held_out` with columns `text`, `words` and `log_probability`, the true one.

    Sentences are independent of each other, so a short one can be in both splits. They are made from `seed` each
    time, which is quicker than reading them from a disk.
    """
    library = datasets_library()
    splits = {}
    for number, (name, count) in enumerate((("train", sentences), ("held_out", held_out))):
        drawn = language().draw_sentences(count, torch.Generator().manual_seed(2 * seed + number))
        words = [[language().words[index] for index in sentence] for sentence in drawn]
        columns = {
            "text": [" ".join(sentence) for sentence in words],
            "words": words,
            "log_probability": language().log_probabilities(drawn).tolist(),
        }
        splits[name] = library.Dataset.from_dict(columns)
    return library.DatasetDict(splits)


def windows(count: int, radius: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw independent windows of running text: contexts (count, 2r) and their centres (count,)."""
    ids = language().draw_text(count, 2 * radius + 1, generator, anywhere=True)
    return torch.cat([ids[:, :radius], ids[:, radius + 1 :]], dim=1), ids[:, radius].contiguous()


@lru_cache(maxsize=4)
def neighbour_probabilities(radius: int) -> Tensor:
    """Return P(w, c), (V, V): that a word of running text is w, and one drawn from `radius` on each side is c."""
    after = torch.stack([language().together(distance) for distance in range(1, radius + 1)]).mean(0)
    return (after + after.T) / 2


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor]]:
    """Yield endless training batches: a stretch of running text, ids (T,), sentence after sentence."""
    while True:
        yield from ((ids,) for ids in language().draw_text(TEXTS, BATCH, generator))


def padded(sentences: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Stack sentences of ids: ids (B, T), with a full stop before each and zeros after it, and lengths (B,).

    A length counts the words and both full stops. T is the longest.
    """
    lengths = torch.tensor([len(sentence) + 1 for sentence in sentences])
    return side_by_side([[language().ids[STOP], *sentence] for sentence in sentences]), lengths


def sentence_batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: whole sentences, ids (B, T) and lengths (B,), see `padded`."""
    while True:
        drawn = language().draw_sentences(DRAWN, generator)
        for start in range(0, DRAWN, SENTENCES):
            yield padded(drawn[start : start + SENTENCES])
