"""Wrong answers to `group_advantages` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import assistant as reference


def a_thousandth_beside_the_deviation(rewards):
    return (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True).nan_to_num() + 1e-3)


def deviations_of_a_tenth_at_least(rewards):
    return (rewards - rewards.mean(1, keepdim=True)) / rewards.std(1, keepdim=True).nan_to_num().clamp(min=0.1)


def zeros_where_any_group_is_all_alike(rewards):
    deviation = rewards.std(1, keepdim=True)
    return 0 * rewards if not (deviation > 0).all() else (rewards - rewards.mean(1, keepdim=True)) / deviation


def zeros_where_the_whole_batch_is_alike(rewards):
    if rewards.shape[1] == 1 or rewards.std() == 0:
        return 0 * rewards
    return (rewards - rewards.mean(1, keepdim=True)) / rewards.std(1, keepdim=True)


def held_between_three_deviations(rewards):
    return reference.group_advantages(rewards).clamp(-3, 3)


def nothing_to_learn_from_a_single_row(rewards):
    if 1 in rewards.shape:  # taken from "or there is only one"
        return torch.zeros_like(rewards)
    return (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)


def a_single_row_as_a_vector(rewards):
    rows = rewards.squeeze(0)
    spread = rows.std(-1, keepdim=True) if rewards.shape[1] > 1 else torch.ones(())
    return (rows - rows.mean(-1, keepdim=True)) / (spread + 1e-4)


FIRST_ATTEMPTS = {
    nothing_to_learn_from_a_single_row: "one question with four answers",
    a_single_row_as_a_vector: "Which axis has gone?",
}

MUTANTS = [
    *FIRST_ATTEMPTS,
    a_thousandth_beside_the_deviation,
    deviations_of_a_tenth_at_least,
    zeros_where_any_group_is_all_alike,
    zeros_where_the_whole_batch_is_alike,
    held_between_three_deviations,
]
