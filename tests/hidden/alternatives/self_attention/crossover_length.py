"""Right answers to `crossover_length` that look nothing like the reference."""

from __future__ import annotations

import torch


def crossover_by_algebra(d):
    return float(d)


def crossover_as_an_integer(d):
    return d


def crossover_by_search(d):
    n = 1
    while n * n * d < n * d * d:
        n += 1
    return n


def crossover_by_division(d):
    return torch.tensor(d * d / d)


ALTERNATIVES = [crossover_by_algebra, crossover_as_an_integer, crossover_by_search, crossover_by_division]
