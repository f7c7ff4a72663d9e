"""Right answers to `count_pairs` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise


def place_by_place(words):
    pairs = Counter()
    for word in words:
        for place in range(1, len(word)):
            pairs[word[place - 1], word[place]] += words[word]
    return pairs


def sum_of_counters(words):
    """A Counter for each word; a sum of Counters drops what does not occur."""
    counted = (
        Counter({pair: n * count for pair, n in Counter(pairwise(word)).items()}) for word, count in words.items()
    )
    return sum(counted, Counter())


def every_token_by_itself(words):
    return Counter(pair for word in words.elements() for pair in pairwise(word))


def in_a_dict(words):
    pairs = {}
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] = pairs.get(pair, 0) + count
    return pairs


ALTERNATIVES = [place_by_place, sum_of_counters, every_token_by_itself, in_a_dict]
