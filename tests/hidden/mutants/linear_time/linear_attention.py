"""Wrong answers to `linear_attention` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def normaliser_without_a_gradient(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True).detach()


def divided_by_a_hundredth_at_least(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / scores.sum(-1, keepdim=True).clamp(min=1e-2)


def an_epsilon_of_ten_millionths(q, k, v):
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    return scores @ v / (scores.sum(-1, keepdim=True) + 1e-5)


MUTANTS = [normaliser_without_a_gradient, divided_by_a_hundredth_at_least, an_epsilon_of_ten_millionths]
