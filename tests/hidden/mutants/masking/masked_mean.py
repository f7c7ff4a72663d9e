"""Wrong answers to `masked_mean` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def as_many_from_the_front(x, mask):
    return right.masked_mean(x, torch.arange(x.shape[1]) < mask.sum(1, keepdim=True))


MUTANTS = [as_many_from_the_front]
