"""Wrong answers to `bag_of_words`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import cbow as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def unknown_words_looked_up(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for i, sentence in enumerate(sentences):
        for word in sentence:
            counts[i, vocab[word]] += 1
    return counts


def unknown_words_left_out(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for i, sentence in enumerate(sentences):
        for word in sentence:
            if word in vocab:
                counts[i, vocab[word]] += 1
    return counts


def ones_for_counts(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for i, sentence in enumerate(sentences):
        for word in sentence:
            counts[i, vocab.get(word, 0)] = 1
    return counts


def words_for_rows(sentences, vocab):
    counts = torch.zeros(len(vocab), len(sentences))
    for i, sentence in enumerate(sentences):
        for word in sentence:
            counts[vocab.get(word, 0), i] += 1
    return counts


def one_list_for_all_rows(sentences, vocab):
    """`[[0] * V] * N` is N times the same list."""
    counts = [[0] * len(vocab)] * len(sentences)
    for row, sentence in zip(counts, sentences, strict=True):
        for word in sentence:
            row[vocab.get(word, 0)] += 1
    return torch.tensor(counts)


FIRST_ATTEMPTS = {
    unknown_words_looked_up: "Which id stands for it?",
    unknown_words_left_out: "is still a word of the sentence",
    ones_for_counts: "How often does `no no no` hold its word?",
    words_for_rows: "right with the axes in the order (1, 0)",
    one_list_for_all_rows: "after the first sentence alone",
}

# -- others ------------------------------------------------------------------------------------------------------------


def unknown_in_the_last_column(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, -1)] += 1
    return counts


def unknown_counted_once(sentences, vocab):
    counts = reference.bag_of_words(sentences, vocab)
    counts[:, 0] = counts[:, 0].clamp(max=1)
    return counts


def as_wide_as_the_largest_id_seen(sentences, vocab):
    counts = reference.bag_of_words(sentences, vocab)
    return counts[:, : 1 + int(counts.any(0).nonzero().max())]


def lower_case(sentences, vocab):
    return reference.bag_of_words([[word.lower() for word in s] for s in sentences], vocab)


MUTANTS = [unknown_in_the_last_column, unknown_counted_once, as_wide_as_the_largest_id_seen, lower_case]
