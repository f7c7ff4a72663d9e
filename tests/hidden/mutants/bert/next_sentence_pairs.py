"""Wrong answers to `next_sentence_pairs` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bert import next_sentence_pairs


def as_many_true_as_false(documents, generator):
    """Make exactly half of the pairs false, in random order, in place of drawing each by a coin."""
    pairs, labels = next_sentence_pairs(documents, generator)
    wanted = torch.randperm(len(labels), generator=generator) % 2
    while bool((labels != wanted).any()):
        others, drawn = next_sentence_pairs(documents, generator)
        pairs = [new if label == want else old for old, new, label, want in zip(pairs, others, drawn, wanted)]
        labels = torch.where(drawn == wanted, drawn, labels)
    return pairs, labels


MUTANTS = [as_many_true_as_false]
