"""Right answers to `discounted_advantages` that look nothing like the reference."""

from __future__ import annotations

import torch


def row_by_row(rewards, values, mask, gamma=1.0, lam=0.95):
    out = torch.zeros_like(rewards)
    for b, length in enumerate(mask.sum(1).tolist()):
        behind = 0.0
        for t in reversed(range(length)):
            coming = float(values[b, t + 1]) if t + 1 < length else 0.0
            behind = float(rewards[b, t]) + gamma * coming - float(values[b, t]) + gamma * lam * behind
            out[b, t] = behind
    return out


def by_a_matrix(rewards, values, mask, gamma=1.0, lam=0.95):
    values = values.detach() * mask
    after = torch.nn.functional.pad(values[:, 1:], (0, 1))
    deltas = (rewards + gamma * after - values) * mask
    place = torch.arange(rewards.shape[1])
    ahead = place - place[:, None]
    share = torch.where(ahead >= 0, torch.tensor(gamma * lam, dtype=rewards.dtype) ** ahead.clamp(min=0), 0.0)
    return (deltas @ share.T.to(rewards.dtype)) * mask


ALTERNATIVES = [row_by_row, by_a_matrix]
