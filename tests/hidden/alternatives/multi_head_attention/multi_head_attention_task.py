"""Right answers to `multi_head_attention_task` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def looks_twice(names, numbers, friends, rivals):
    """What two heads learn, as tables."""
    one_hot = F.one_hot(numbers, 10).double()
    found = [(whom[:, :, None] == names[:, None]).double() @ one_hot for whom in (friends, rivals)]
    return torch.stack(found, 2)


ALTERNATIVES = [looks_twice]
