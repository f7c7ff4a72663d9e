"""Right answers to `group_advantages` that look nothing like the reference."""

from __future__ import annotations

import torch


def group_by_group(rewards):
    rows = []
    for row in rewards:
        centred = row - row.mean()
        spread = (centred.square().sum() / max(1, len(row) - 1)).sqrt()
        rows.append(centred / spread if spread > 1e-3 else torch.zeros_like(row))
    return torch.stack(rows)


def next_to_nothing_beside_the_deviation(rewards):
    deviation = rewards.std(1, keepdim=True) if rewards.shape[1] > 1 else torch.zeros_like(rewards)
    return (rewards - rewards.mean(1, keepdim=True)) / (deviation + 1e-8)


def no_number_for_no_deviation(rewards):
    advantages = (rewards - rewards.mean(1, keepdim=True)) / rewards.std(1, keepdim=True)
    return advantages.nan_to_num(nan=0.0)


ALTERNATIVES = [group_by_group, next_to_nothing_beside_the_deviation, no_number_for_no_deviation]
