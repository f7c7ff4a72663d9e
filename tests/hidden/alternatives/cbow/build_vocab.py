"""Right answers to `build_vocab` that look nothing like the reference."""

from __future__ import annotations

from collections import defaultdict

import numpy as np


def counted_by_hand(tokens, min_count=1):
    counts = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    vocab = defaultdict(int)
    vocab["<unk>"] = 0
    for _, word in sorted((-count, word) for word, count in counts.items() if count >= min_count):
        vocab[word] = len(vocab)
    return dict(vocab)


def sorted_by_numpy(tokens, min_count=1):
    """Return numpy's strings and numbers, which equal Python's."""
    words, counts = np.unique(np.array(tokens, dtype=str), return_counts=True)
    frequent = words[counts >= min_count][np.argsort(-counts[counts >= min_count], kind="stable")]
    return {"<unk>": 0} | dict(zip(frequent, np.arange(1, len(frequent) + 1), strict=True))


ALTERNATIVES = [counted_by_hand, sorted_by_numpy]
