"""Wrong answers to `self_attention_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def looks_up_half_of_the_time(keys, values, query):
    """A model that is right for the first half of the list only."""
    found = (keys == query[:, None]).float()
    found[:, keys.shape[1] // 2 :] = 0
    return torch.einsum("bs,bsv->bv", found, F.one_hot(values, 10).float())


MUTANTS = [looks_up_half_of_the_time]
