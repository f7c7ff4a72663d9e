"""Wrong answers to `lstm_gru_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.data import parentheses


def _answers(balanced):
    return F.one_hot(balanced.long(), 2).double()


def always_corrupted(ids, lengths):
    return _answers(torch.zeros(len(ids)))


def the_other_class(ids, lengths):
    return _answers(~parentheses.is_balanced(ids, lengths))


def counts_tokens(ids, lengths):
    """Every colour opened as often as it is closed."""
    real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
    counts = (F.one_hot(ids, parentheses.TOKENS) * real).sum(1)
    return _answers((counts[:, :5] == counts[:, 5:].flip(1)).all(1))


def right_three_times_in_four(ids, lengths):
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    wrong = ((ids * real * torch.arange(1, ids.shape[1] + 1)).sum(1) % 4) == 0
    return _answers(parentheses.is_balanced(ids, lengths) ^ wrong)


MUTANTS = [
    always_corrupted,
    the_other_class,
    counts_tokens,
    right_three_times_in_four,
]
