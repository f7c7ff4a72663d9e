"""Wrong answers to `masking_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.hidden.masking.masking_task import source_log_p


class HalfALeak:
    """A model that knows every tenth word from the future, and else guesses as the grammar does."""

    def __call__(self, ids, lengths):
        logits = source_log_p(ids)
        ahead = F.one_hot(ids.roll(-1, 1), logits.shape[-1]) * 20.0
        peeks = torch.arange(ids.shape[1] - 1) % 10 == 1
        logits[:, :-1] += (ahead[:, :-1]) * peeks[:, None]
        return logits


MUTANTS = [HalfALeak()]
