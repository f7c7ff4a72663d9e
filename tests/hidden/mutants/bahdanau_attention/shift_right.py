"""Wrong answers to `shift_right`: a beginner's first attempts, and one that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import shift_right

# -- first attempts ----------------------------------------------------------------------------------------------------


def sos_as_a_number(targets, sos):
    return torch.cat([sos, targets[:, :-1]], dim=1)


def sos_as_a_vector(targets, sos):
    return torch.cat([torch.tensor([sos]), targets[:, :-1]], dim=1)


def one_token_too_many(targets, sos):
    return torch.cat([torch.full_like(targets[:, :1], sos), targets], dim=1)


def rolled_alone(targets, sos):
    return torch.roll(targets, 1, dims=1)


def first_token_replaced(targets, sos):
    return torch.cat([torch.full_like(targets[:, :1], sos), targets[:, 1:]], dim=1)


def always_int64(targets, sos):
    return torch.cat([torch.full((len(targets), 1), sos), targets[:, :-1]], dim=1)


def in_place(targets, sos):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = sos
    return targets


FIRST_ATTEMPTS = {
    sos_as_a_number: "that holds sos for each row?",
    sos_as_a_vector: "that holds sos for each row?",
    one_token_too_many: "Each step reads one token and predicts one.",
    rolled_alone: "It cannot know how the sentence ends.",
    first_token_replaced: "Which tokens of the result differ from the targets?",
    always_int64: "expected the dtype int32, got int64",
    in_place: "Leave the inputs as they are",
}

# -- others ------------------------------------------------------------------------------------------------------------


def always_one_in_front(targets, sos):
    return shift_right(targets, 1)


MUTANTS = [always_one_in_front]
