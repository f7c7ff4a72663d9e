"""Right answers to `negative_samples` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def by_searching_the_sums(counts, shape, generator, power=0.75):
    sums = (counts.double() ** power).cumsum(0)
    coins = torch.rand(shape, generator=generator, dtype=torch.float64) * sums[-1]
    return torch.searchsorted(sums, coins, right=True).clamp(max=len(counts) - 1)


def row_by_row(counts, shape, generator, power=0.75):
    weights = counts.float().pow(power)
    if len(shape) == 1:
        return torch.multinomial(weights, shape[0], replacement=True, generator=generator)
    return torch.stack([row_by_row(counts, shape[1:], generator, power) for _ in range(shape[0])])


def by_gumbel(counts, shape, generator, power=0.75):
    """The largest of log weight + noise is drawn with the weight."""
    logits = power * counts.double().log()
    coins = torch.rand(math.prod(shape), len(counts), generator=generator, dtype=torch.float64).clamp(min=1e-300)
    return (logits - (-coins.log()).log()).argmax(1).view(shape)


ALTERNATIVES = [by_searching_the_sums, row_by_row, by_gumbel]
