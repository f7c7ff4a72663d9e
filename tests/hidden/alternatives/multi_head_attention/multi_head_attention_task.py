"""Right answers to `multi_head_attention_task` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def looks_twice(names, numbers, friends, rivals):
    """What two heads learn, as tables."""
    one_hot = F.one_hot(numbers, 10).double()
    found = [(whom[:, :, None] == names[:, None]).double() @ one_hot for whom in (friends, rivals)]
    return torch.stack(found, 2)


def asks_dictionaries(names, numbers, friends, rivals):
    rows = []
    for name, number, friend, rival in zip(*(x.tolist() for x in (names, numbers, friends, rivals)), strict=True):
        wears = dict(zip(name, number, strict=True))
        rows.append([[wears[f], wears[r]] for f, r in zip(friend, rival, strict=True)])
    return 9.0 * F.one_hot(torch.tensor(rows), 10).float() - 3.0


ALTERNATIVES = [looks_twice, asks_dictionaries]
