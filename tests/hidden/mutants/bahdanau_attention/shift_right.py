"""Wrong answers to `shift_right` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import shift_right


def shifts_by_two(targets, sos):
    return shift_right(shift_right(targets, sos), sos)


def sos_in_the_first_row_only(targets, sos):
    shifted = targets.roll(1, 1)
    shifted[0, 0] = sos
    return shifted


def in_place(targets, sos):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = sos
    return targets


def eos_dropped_with_a_zero(targets, sos):
    shifted = shift_right(targets, sos)
    return shifted.masked_fill(shifted == 2, 0)


def another_integer_type(targets, sos):
    return shift_right(targets, sos).long() if targets.dtype != torch.int64 else shift_right(targets, sos).float()


def always_one_in_front(targets, sos):
    return shift_right(targets, 1)


MUTANTS = [
    shifts_by_two,
    another_integer_type,
    sos_in_the_first_row_only,
    in_place,
    eos_dropped_with_a_zero,
    always_one_in_front,
]
