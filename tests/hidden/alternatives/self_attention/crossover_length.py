"""Right answers to `crossover_length` that look nothing like the reference."""

from __future__ import annotations

import torch


def crossover_as_an_integer(d):
    return 2 * d


def crossover_by_search(d):
    n = 1
    while 12 * n * d * d + 2 * n * n * d < 16 * n * d * d:
        n += 1
    return n


def crossover_by_division(d):
    return torch.tensor(4 * d * d / (2 * d))


ALTERNATIVES = [crossover_as_an_integer, crossover_by_search, crossover_by_division]
