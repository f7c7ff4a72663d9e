"""Wrong answers to `next_sentence_pairs` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bert import next_sentence_pairs


def second_before_first(documents, generator):
    pairs, labels = next_sentence_pairs(documents, generator)
    return [pair[::-1] for pair in pairs], labels


def every_other_pair(documents, generator):
    pairs, labels = next_sentence_pairs(documents, generator)
    return pairs[::2], labels[::2]


def as_many_true_as_false(documents, generator):
    """A false second for every other pair, in any order, where a coin is asked for."""
    pairs, labels = next_sentence_pairs(documents, generator)
    wanted = torch.randperm(len(labels), generator=generator) % 2
    while bool((labels != wanted).any()):
        others, drawn = next_sentence_pairs(documents, generator)
        pairs = [new if label == want else old for old, new, label, want in zip(pairs, others, drawn, wanted)]
        labels = torch.where(drawn == wanted, drawn, labels)
    return pairs, labels


MUTANTS = [second_before_first, every_other_pair, as_many_true_as_false]
