"""Wrong answers to `best_span` that no misconception knows by name."""

from __future__ import annotations

import torch


def _allowed(mask, longest):
    T = mask.shape[1]
    return torch.ones(T, T, dtype=torch.bool).triu().tril(longest - 1) & mask[:, :, None] & mask[:, None]


def _best(scores):
    T = scores.shape[-1]
    best = scores.flatten(1).argmax(1)
    return torch.stack([best // T, best % T], 1)


def products_of_probabilities_where_allowed(start, end, mask, longest):
    p, q = (scores.masked_fill(~mask, -1e9).softmax(1) for scores in (start, end))
    return _best((p[:, :, None] * q[:, None]).masked_fill(~_allowed(mask, longest), -1.0))


MUTANTS = [products_of_probabilities_where_allowed]
