"""Wrong answers to `bag_of_words` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import cbow as reference


def unknown_in_the_last_column(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, -1)] += 1
    return counts


def unknown_counted_once(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
        counts[row, 0] = counts[row, 0].clamp(max=1)
    return counts


def as_wide_as_the_largest_id_seen(sentences, vocab):
    rows = [torch.bincount(torch.tensor([vocab.get(w, 0) for w in s], dtype=torch.long)) for s in sentences]
    width = max(len(row) for row in rows)
    return torch.stack([F.pad(row, (0, width - len(row))) for row in rows])


def stops_at_an_unknown_word(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
            if word not in vocab:
                break
    return counts


def one_list_for_all_rows(sentences, vocab):
    """`[[0] * V] * N` is N times the same list."""
    counts = [[0] * len(vocab)] * len(sentences)
    for row, sentence in zip(counts, sentences, strict=True):
        for word in sentence:
            row[vocab.get(word, 0)] += 1
    return torch.tensor(counts)


def one_bag_for_all(sentences, vocab):
    return reference.bag_of_words([[w for s in sentences for w in s]], vocab)


def lower_case(sentences, vocab):
    return reference.bag_of_words([[word.lower() for word in s] for s in sentences], vocab)


MUTANTS = [
    unknown_in_the_last_column,
    unknown_counted_once,
    as_wide_as_the_largest_id_seen,
    stops_at_an_unknown_word,
    one_list_for_all_rows,
    one_bag_for_all,
    lower_case,
]
