"""Wrong answers to `crossover_length` that no misconception knows by name."""

from __future__ import annotations


def reciprocal(d):
    return 2 / d


def two_more(d):
    return d + 2  # right at d = 2, the width of the text's example


def first_length_beyond(d):
    return 2 * d + 1


def fixed_at_1024(d):
    return 1024.0


MUTANTS = [reciprocal, two_more, first_length_beyond, fixed_at_1024]
