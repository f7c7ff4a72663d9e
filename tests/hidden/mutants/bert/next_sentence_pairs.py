"""Wrong answers to `next_sentence_pairs` that no misconception knows by name."""

from __future__ import annotations

from course.reference.bert import next_sentence_pairs


def second_before_first(documents, generator):
    pairs, labels = next_sentence_pairs(documents, generator)
    return [pair[::-1] for pair in pairs], labels


def every_other_pair(documents, generator):
    pairs, labels = next_sentence_pairs(documents, generator)
    return pairs[::2], labels[::2]


MUTANTS = [second_before_first, every_other_pair]
