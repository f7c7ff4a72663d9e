"""Wrong answers to `causal_mask` that no misconception knows by name."""

from __future__ import annotations

import torch


def last_two_words_only(T):
    return torch.ones(T, T, dtype=torch.bool).tril().triu(-1)


MUTANTS = [last_two_words_only]
