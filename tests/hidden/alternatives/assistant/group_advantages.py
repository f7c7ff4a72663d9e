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


def by_var_mean(rewards):
    G = rewards.shape[1]
    var, mean = torch.var_mean(rewards, dim=1, correction=0, keepdim=True)
    return (rewards - mean) / ((var * G / max(1, G - 1)).sqrt() + 1e-6)


def by_a_matrix(rewards):
    G = rewards.shape[1]
    centred = rewards @ (torch.eye(G) - 1 / G).to(rewards)
    size = centred.norm(dim=1, keepdim=True) / max(1, G - 1) ** 0.5
    return centred / size.clamp(min=1e-2)


def next_to_nothing_beside_the_deviation(rewards):
    deviation = rewards.std(1, keepdim=True) if rewards.shape[1] > 1 else torch.zeros_like(rewards)
    return (rewards - rewards.mean(1, keepdim=True)) / (deviation + 1e-8)


def no_number_for_no_deviation(rewards):
    advantages = (rewards - rewards.mean(1, keepdim=True)) / rewards.std(1, keepdim=True)
    return advantages.nan_to_num(nan=0.0)


ALTERNATIVES = [
    group_by_group,
    by_var_mean,
    by_a_matrix,
    next_to_nothing_beside_the_deviation,
    no_number_for_no_deviation,
]
