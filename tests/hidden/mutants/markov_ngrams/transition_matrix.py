"""Wrong answers to `transition_matrix` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import markov_ngrams as reference


def _pair_counts(ids, vocab_size):
    counts = torch.zeros(vocab_size, vocab_size)
    for pair in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        counts[pair] += 1
    return counts


def _divided(weights, totals):
    return torch.where(totals > 0, weights / totals, 1 / len(weights))


def joint(ids, vocab_size, alpha=0.0):
    """n_joint: counts divided by all windows."""
    P = reference.transition_matrix(ids, vocab_size, alpha)
    return P / vocab_size


def smoothing_counts_seen_tokens(ids, vocab_size, alpha=0.0):
    """n_smooth_seenV: alpha times the number of *seen* successors below."""
    counts = _pair_counts(ids, vocab_size)
    return _divided(counts + alpha, counts.sum(1, keepdim=True) + alpha * (counts > 0).sum(1, keepdim=True))


def one_symbol_too_many(ids, vocab_size, alpha=0.0):
    """n_bos_in_V."""
    return reference.transition_matrix(ids, vocab_size + 1, alpha)[:vocab_size, :vocab_size]


def one_symbol_too_few(ids, vocab_size, alpha=0.0):
    """n_noeos_in_V: V − 1 in the denominator."""
    counts = _pair_counts(ids, vocab_size)
    return _divided(counts + alpha, counts.sum(1, keepdim=True) + alpha * (vocab_size - 1))


def pairs_deduplicated(ids, vocab_size, alpha=0.0):
    """n_set_dedupe."""
    weights = (_pair_counts(ids, vocab_size) > 0) + alpha
    return _divided(weights, weights.sum(1, keepdim=True))


def alpha_for_seen_pairs_only(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size)
    weights = torch.where(counts > 0, counts + alpha, 0)
    return _divided(weights, weights.sum(1, keepdim=True))


def always_laplace(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 1.0)


def alpha_for_empty_rows_only(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 0.0)


def whole_numbers(ids, vocab_size, alpha=0.0):
    return (100 * reference.transition_matrix(ids, vocab_size, alpha)).round().long()


def up_to_the_last_but_one(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids[:-1], vocab_size, alpha)


def skips_one(ids, vocab_size, alpha=0.0):
    """n_cross, as near as we come: pairs of tokens that are not neighbours."""
    return reference.transition_matrix(ids[::2], vocab_size, alpha)


def the_same_list_in_every_row(ids, vocab_size, alpha=0.0):
    """`[[0] * V] * V` is V times the same list."""
    table = [[alpha] * vocab_size] * vocab_size
    for before, after in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        table[before][after] += 1
    return torch.tensor(table) / torch.tensor(table).sum(1, keepdim=True)


def sums_of_at_least_one(ids, vocab_size, alpha=0.0):
    """Against a division by zero: right wherever alpha times V is one or more."""
    weights = _pair_counts(ids, vocab_size) + alpha
    totals = weights.sum(1, keepdim=True)
    return torch.where(totals > 0, weights, 1 / vocab_size) / totals.clamp(min=1)


MUTANTS = [
    joint,
    smoothing_counts_seen_tokens,
    one_symbol_too_many,
    one_symbol_too_few,
    pairs_deduplicated,
    alpha_for_seen_pairs_only,
    always_laplace,
    alpha_for_empty_rows_only,
    whole_numbers,
    up_to_the_last_but_one,
    skips_one,
    the_same_list_in_every_row,
    sums_of_at_least_one,
]
