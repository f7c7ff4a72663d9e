"""Right answers to `count_pairs` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise


def sum_of_counters(words):
    """A Counter for each word; a sum of Counters drops what does not occur."""
    counted = (
        Counter({pair: n * count for pair, n in Counter(pairwise(word)).items()}) for word, count in words.items()
    )
    return sum(counted, Counter())


def in_a_dict(words):
    pairs = {}
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] = pairs.get(pair, 0) + count
    return pairs


ALTERNATIVES = [sum_of_counters, in_a_dict]
