"""Wrong answers to `count_ngrams` that no misconception knows by name."""

from __future__ import annotations

import itertools
from collections import Counter

from course.reference import markov_ngrams as reference


def misses_the_first(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(tuple(tokens[i : i + n]) for i in range(1, len(tokens) - n + 1))


def wraps_around(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(tuple(tokens[(i + k) % len(tokens)] for k in range(n)) for i in range(len(tokens)))


def lists_of_pairs(tokens, n):
    return reference.count_ngrams(tokens, n).most_common()


def shares_for_counts(tokens, n):
    counts = reference.count_ngrams(tokens, n)
    return Counter({gram: count / counts.total() for gram, count in counts.items()})


def pairs_whatever_n(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(itertools.pairwise(tokens))


def complains_about_short_texts(tokens, n):
    if n > len(tokens):
        raise ValueError
    return reference.count_ngrams(tokens, n)


def strings_for_tuples(tokens, n):
    windows = reference.count_ngrams(tokens, n).elements()
    return Counter("".join(map(str, window)) for window in windows)


def accepts_nothing(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


MUTANTS = [
    misses_the_first,
    wraps_around,
    lists_of_pairs,
    shares_for_counts,
    pairs_whatever_n,
    complains_about_short_texts,
    strings_for_tuples,
    accepts_nothing,
]
