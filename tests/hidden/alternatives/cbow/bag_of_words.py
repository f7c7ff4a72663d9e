"""Right answers to `bag_of_words` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import torch


def float_counts(sentences, vocab):
    counts = torch.zeros(len(sentences), len(vocab))
    for i, sentence in enumerate(sentences):
        for word, count in Counter(sentence).items():
            counts[i, vocab.get(word, vocab["<unk>"])] += count
    return counts


def through_numpy(sentences, vocab):
    counts = np.zeros((len(sentences), len(vocab)), dtype=np.int64)
    for i, sentence in enumerate(sentences):
        np.add.at(counts[i], [vocab.get(w, 0) for w in sentence], 1)
    return torch.from_numpy(counts)


ALTERNATIVES = [float_counts, through_numpy]
