"""Wrong answers to `bag_of_words`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import cbow as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def words_for_rows(sentences, vocab):
    counts = torch.zeros(len(vocab), len(sentences))
    for i, sentence in enumerate(sentences):
        for word in sentence:
            counts[vocab.get(word, 0), i] += 1
    return counts


FIRST_ATTEMPTS = {
    words_for_rows: "right with the axes in the order (1, 0)",
}

# -- others ------------------------------------------------------------------------------------------------------------


def as_wide_as_the_largest_id_seen(sentences, vocab):
    counts = reference.bag_of_words(sentences, vocab)
    return counts[:, : 1 + int(counts.any(0).nonzero().max())]


def lower_case(sentences, vocab):
    return reference.bag_of_words([[word.lower() for word in s] for s in sentences], vocab)


MUTANTS = [as_wide_as_the_largest_id_seen, lower_case]
