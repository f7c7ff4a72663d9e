"""Right answers to `count_ngrams` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter

import numpy as np


class WindowCounter(Counter):
    """A subclass is a Counter, too."""


def counted_by_numpy(tokens, n):
    """The keys are tuples of numpy's own words and numbers, which equal Python's."""
    if n < 1:
        raise ValueError("n is too small")
    if len(tokens) < n:
        return Counter()
    return Counter(map(tuple, np.lib.stride_tricks.sliding_window_view(np.array(tokens), n)))


def counted_in_a_dict(tokens, n):
    if n < 1:
        raise ValueError("no window")
    counts = {}
    for window in zip(*(tokens[k:] for k in range(n)), strict=False):
        counts[window] = counts.get(window, 0) + 1
    return counts


ALTERNATIVES = [counted_by_numpy, counted_in_a_dict]
