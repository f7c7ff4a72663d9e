"""Wrong answers to `transition_matrix`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def _pair_counts(ids, vocab_size, alpha=0.0):
    counts = torch.zeros(vocab_size, vocab_size) + alpha
    for i in range(len(ids) - 1):
        counts[ids[i], ids[i + 1]] += 1
    return counts


def summed_down_the_columns(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size, alpha)
    return counts / counts.sum(dim=0)


def next_token_chooses_the_row(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size, alpha).T
    return counts / counts.sum(dim=1, keepdim=True)


def runs_over_the_end(ids, vocab_size, alpha=0.0):
    counts = torch.zeros(vocab_size, vocab_size) + alpha
    for i in range(len(ids)):
        counts[ids[i], ids[i + 1]] += 1
    return counts / counts.sum(dim=1, keepdim=True)


def added_once_where_pairs_repeat(ids, vocab_size, alpha=0.0):
    counts = torch.zeros(vocab_size, vocab_size) + alpha
    counts[ids[:-1], ids[1:]] += 1
    return counts / counts.sum(dim=1, keepdim=True)


def sums_of_the_wrong_shape(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size, alpha)
    return counts / counts.sum(dim=1)


FIRST_ATTEMPTS = {
    summed_down_the_columns: "Sum your rows, then your columns.",
    next_token_chooses_the_row: "What came before should choose the row.",
    runs_over_the_end: "index 36 is out of bounds",
    added_once_where_pairs_repeat: "the pair (0, 1) occurs twice",
    sums_of_the_wrong_shape: "print the shape of the sums",
}

# -- others ------------------------------------------------------------------------------------------------------------


def sums_of_at_least_one(ids, vocab_size, alpha=0.0):
    """Clamp sums to at least one against a division by zero, which is wrong where alpha times V is below one."""
    weights = _pair_counts(ids, vocab_size) + alpha
    totals = weights.sum(1, keepdim=True)
    return torch.where(totals > 0, weights, 1 / vocab_size) / totals.clamp(min=1)


MUTANTS = [sums_of_at_least_one]
