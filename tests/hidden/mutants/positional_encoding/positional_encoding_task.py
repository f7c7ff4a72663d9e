"""Wrong answers to `positional_encoding_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.data import order


def _one_hot(ids):
    return F.one_hot(ids, len(order.LETTERS)).float()


def two_places_late(ids):
    return _one_hot(ids.roll(2, 1))


def four_places_late(ids):
    return _one_hot(ids.roll(4, 1))


def says_the_list_backwards(ids):
    return _one_hot(ids.flip(1))


def right_half_of_the_time(ids):
    late = _one_hot(ids.roll(3, 1))
    late[:, ::2] = _one_hot(ids)[:, ::2]
    return late


def one_answer_a_list(ids):
    return _one_hot(ids[:, :1].expand_as(ids))


def places_wrapped_at_sixteen(ids):
    places = torch.arange(ids.shape[1])
    return _one_hot(ids[:, (places % 16 - 3) % ids.shape[1]])


MUTANTS = [
    two_places_late,
    four_places_late,
    says_the_list_backwards,
    right_half_of_the_time,
    one_answer_a_list,
    places_wrapped_at_sixteen,
]
