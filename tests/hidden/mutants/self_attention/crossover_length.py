"""Wrong answers to `crossover_length` that no misconception knows by name."""

from __future__ import annotations


def reciprocal(d):
    return 1 / d


def one_more(d):
    return d + 1


def fixed_at_512(d):
    return 512.0


MUTANTS = [reciprocal, one_more, fixed_at_512]
