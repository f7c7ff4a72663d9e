"""Wrong answers to `transition_matrix` that no misconception knows by name."""

from __future__ import annotations

import math
from collections import Counter

import torch

from course.reference import markov_ngrams as reference


def joint(ids, vocab_size, alpha=0.0):
    """n_joint: counts divided by all windows."""
    P = reference.transition_matrix(ids, vocab_size, alpha)
    return P / vocab_size


def smoothing_forgets_the_vocabulary(ids, vocab_size, alpha=0.0):
    """n_smooth_noV."""
    counts = reference.count_ngrams(ids.tolist(), 2)
    totals = Counter(ids[:-1].tolist())
    rows = [
        [(counts[v, u] + alpha) / ((totals[v] + alpha) or math.inf) for u in range(vocab_size)]
        for v in range(vocab_size)
    ]
    return torch.tensor(rows)


def smoothing_counts_seen_tokens(ids, vocab_size, alpha=0.0):
    """n_smooth_seenV: alpha times the number of *seen* successors below."""
    counts = torch.zeros(vocab_size, vocab_size)
    for pair in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True) + alpha * (counts > 0).sum(1, keepdim=True)
    return torch.where(totals > 0, (counts + alpha) / totals, 1 / vocab_size)


def one_symbol_too_many(ids, vocab_size, alpha=0.0):
    """n_bos_in_V."""
    return reference.transition_matrix(ids, vocab_size + 1, alpha)[:vocab_size, :vocab_size]


def one_symbol_too_few(ids, vocab_size, alpha=0.0):
    """n_noeos_in_V: V − 1 in the denominator."""
    counts = torch.zeros(vocab_size, vocab_size)
    for pair in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True) + alpha * (vocab_size - 1)
    return torch.where(totals > 0, (counts + alpha) / totals, 1 / vocab_size)


def pairs_deduplicated(ids, vocab_size, alpha=0.0):
    """n_set_dedupe."""
    pairs = sorted(set(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True)))
    counts = torch.full((vocab_size, vocab_size), float(alpha))
    for pair in pairs:
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True)
    return torch.where(totals > 0, counts / totals, 1 / vocab_size)


def always_laplace(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 1.0)


def alpha_for_empty_rows_only(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 0.0)


def whole_numbers(ids, vocab_size, alpha=0.0):
    return (100 * reference.transition_matrix(ids, vocab_size, alpha)).round().long()


def skips_one(ids, vocab_size, alpha=0.0):
    """n_cross, as near as we come: pairs of tokens that are not neighbours."""
    return reference.transition_matrix(ids[::2], vocab_size, alpha)


MUTANTS = [
    joint,
    smoothing_forgets_the_vocabulary,
    smoothing_counts_seen_tokens,
    one_symbol_too_many,
    one_symbol_too_few,
    pairs_deduplicated,
    always_laplace,
    alpha_for_empty_rows_only,
    whole_numbers,
    skips_one,
]
