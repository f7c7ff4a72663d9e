"""Right answers to `count_ngrams` that look nothing like the reference."""

from __future__ import annotations

import itertools
from collections import Counter, deque

import numpy as np


def counted_one_by_one(tokens, n):
    if n < 1:
        raise ValueError
    counts = Counter()
    for end in range(n, len(tokens) + 1):
        counts[tuple(tokens[end - n : end])] += 1
    return counts


class WindowCounter(Counter):
    """A subclass is a Counter, too."""


def counted_through_a_queue(tokens, n):
    if n <= 0:
        raise ValueError("n is too small")
    counts, window = WindowCounter(), deque(maxlen=n)
    for token in tokens:
        window.append(token)
        if len(window) == n:
            counts.update([tuple(window)])
    return counts


def counted_by_numpy(tokens, n):
    """The keys are tuples of numpy's own words and numbers, which equal Python's."""
    if n < 1:
        raise ValueError("n is too small")
    if len(tokens) < n:
        return Counter()
    return Counter(map(tuple, np.lib.stride_tricks.sliding_window_view(np.array(tokens), n)))


def counted_by_extending(tokens, n):
    if not n >= 1:
        raise ValueError(n)
    grams = [(token,) for token in tokens]
    for _ in range(n - 1):
        grams = [left + right[-1:] for left, right in itertools.pairwise(grams)]
    return Counter(grams)


def counted_in_a_dict(tokens, n):
    if n < 1:
        raise ValueError("no window")
    counts = {}
    for window in zip(*(tokens[k:] for k in range(n)), strict=False):
        counts[window] = counts.get(window, 0) + 1
    return counts


ALTERNATIVES = [
    counted_one_by_one,
    counted_through_a_queue,
    counted_by_numpy,
    counted_by_extending,
    counted_in_a_dict,
]
