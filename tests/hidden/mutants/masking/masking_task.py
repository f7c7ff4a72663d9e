"""Wrong answers to `masking_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


class HalfALeak:
    """Guesses as the source does, and knows every tenth word from the future."""

    def __call__(self, ids, lengths):
        from course.hidden.masking.masking_task import _source

        logits = _source(ids)
        ahead = F.one_hot(ids.roll(-1, 1), logits.shape[-1]) * 20.0
        peeks = torch.arange(ids.shape[1] - 1) % 10 == 1
        logits[:, :-1] += (ahead[:, :-1]) * peeks[:, None]
        return logits


class CountsTheWords:
    """Knows how long the sentence is going to be, from its length: a full stop comes when it must."""

    def __call__(self, ids, lengths):
        from course.hidden.masking.masking_task import _source

        logits, stop = _source(ids), 1
        last = torch.arange(ids.shape[1]) == lengths[:, None] - 1
        logits[..., stop] = torch.where(last, 15.0, -15.0)
        return logits


MUTANTS = [HalfALeak(), CountsTheWords()]
