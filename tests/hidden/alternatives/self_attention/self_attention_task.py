"""Right answers to `self_attention_task` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def looks_up(keys, values, query):
    """What the layer learns, as a table."""
    found = (keys == query[:, None]).float()
    return torch.einsum("bs,bsv->bv", found, F.one_hot(values, 10).float())


def asks_dictionaries(keys, values, query):
    answers = [
        dict(zip(k.tolist(), v.tolist(), strict=True))[int(q)] for k, v, q in zip(keys, values, query, strict=True)
    ]
    return 10.0 * F.one_hot(torch.tensor(answers), 10).double() - 5.0


ALTERNATIVES = [looks_up, asks_dictionaries]
