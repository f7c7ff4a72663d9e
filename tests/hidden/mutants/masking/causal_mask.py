"""Wrong answers to `causal_mask` that no misconception knows by name."""

from __future__ import annotations

import torch


def first_word_always_visible(T):
    return torch.ones(T, T, dtype=torch.bool).triu().T.flip(0)


def last_two_words_only(T):
    return torch.ones(T, T, dtype=torch.bool).tril().triu(-1)


def with_a_batch_axis(T):
    return torch.ones(1, T, T, dtype=torch.bool).tril()


def one_too_wide(T):
    return torch.ones(T, T + 1, dtype=torch.bool).tril()


MUTANTS = [
    first_word_always_visible,
    last_two_words_only,
    with_a_batch_axis,
    one_too_wide,
]
