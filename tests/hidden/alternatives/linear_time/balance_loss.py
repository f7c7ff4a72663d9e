"""Right answers to `balance_loss` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_bincount(logits, experts):
    E = logits.shape[1]
    f = torch.bincount(experts.reshape(-1), minlength=E).to(logits.dtype) / experts.numel()
    return E * f @ torch.softmax(logits, dim=1).mean(dim=0)


def mean_over_what_was_chosen(logits, experts):
    """Each place pays the mean probability of its expert."""
    P = logits.softmax(1).mean(0)
    return len(P) * P[experts].mean()


ALTERNATIVES = [by_bincount, mean_over_what_was_chosen]
