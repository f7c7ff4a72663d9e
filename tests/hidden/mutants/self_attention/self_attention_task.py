"""Wrong answers to `self_attention_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def answers_with_the_first_pair(keys, values, query):
    return F.one_hot(values[:, 0], 10).float()


def repeats_the_query(keys, values, query):
    return F.one_hot(query % 10, 10).float()


def names_the_largest_digit(keys, values, query):
    return F.one_hot(values.amax(1), 10).float()


def looks_up_half_of_the_time(keys, values, query):
    """Right for the first half of the list only."""
    found = (keys == query[:, None]).float()
    found[:, keys.shape[1] // 2 :] = 0
    return torch.einsum("bs,bsv->bv", found, F.one_hot(values, 10).float())


MUTANTS = [
    answers_with_the_first_pair,
    repeats_the_query,
    names_the_largest_digit,
    looks_up_half_of_the_time,
]
