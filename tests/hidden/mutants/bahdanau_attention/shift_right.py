"""Wrong answers to `shift_right`: a beginner's first attempts, and one that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import shift_right

# -- first attempts ----------------------------------------------------------------------------------------------------


def always_int64(targets, sos):
    return torch.cat([torch.full((len(targets), 1), sos), targets[:, :-1]], dim=1)


def in_place(targets, sos):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = sos
    return targets


FIRST_ATTEMPTS = {
    always_int64: "expected the dtype int32, got int64",
    in_place: "Leave the inputs as they are",
}

# -- others ------------------------------------------------------------------------------------------------------------


def always_one_in_front(targets, sos):
    return shift_right(targets, 1)


MUTANTS = [always_one_in_front]
