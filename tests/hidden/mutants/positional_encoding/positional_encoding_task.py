"""Wrong answers to `positional_encoding_task` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.data import order


def _one_hot(ids):
    return F.one_hot(ids, len(order.LETTERS)).float()


def right_half_of_the_time(ids):
    late = _one_hot(ids.roll(3, 1))
    late[:, ::2] = _one_hot(ids)[:, ::2]
    return late


MUTANTS = [
    right_half_of_the_time,
]
