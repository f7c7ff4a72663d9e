"""Right answers to `next_sentence_pairs` that look nothing like the reference."""

from __future__ import annotations

import random
from itertools import pairwise

import torch


def by_trying_again(documents, generator):
    """Draw a document and then a sentence of it, until one fits."""
    pairs, labels = [], []
    for i, document in enumerate(documents):
        for j in range(1, len(document)):
            label = int(torch.randint(2, (), generator=generator))
            second = document[j]
            while not label and second == document[j]:
                k = int(torch.randint(len(documents) - 1, (), generator=generator))
                other = documents[k + (k >= i)]
                second = other[int(torch.randint(len(other), (), generator=generator))]
            pairs.append((document[j - 1], second))
            labels.append(label)
    return pairs, torch.tensor(labels)


def by_pythons_chance(documents, generator):
    """Draw from Python's `random`, seeded by the generator."""
    chance = random.Random(int(torch.randint(2**62, (), generator=generator)))
    pairs, labels = [], torch.zeros(0, dtype=torch.long)
    for i, document in enumerate(documents):
        strangers = {s for k, other in enumerate(documents) if k != i for s in other}
        for a, b in pairwise(document):
            label = chance.random() < 0.5
            pairs.append((a, b) if label else (a, chance.choice(sorted(strangers - {b}))))
            labels = torch.cat([labels, torch.tensor([int(label)])])
    return pairs, labels


ALTERNATIVES = [by_trying_again, by_pythons_chance]
