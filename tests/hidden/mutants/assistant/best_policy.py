"""Wrong answers to `best_policy` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import assistant as reference


def exponential_overflows(log_ref, reward, beta):
    if beta <= 0:
        raise ValueError("beta")
    weights = log_ref.exp() * (reward / beta).exp()
    return (weights / weights.sum()).log()


def nothing_is_impossible(log_ref, reward, beta):
    return reference.best_policy(log_ref.clamp(min=-30), reward, beta)


def reference_cut(log_ref, reward, beta):
    return reference.best_policy(log_ref.detach(), reward, beta)


def any_price(log_ref, reward, beta):
    return (log_ref + reward / beta if beta else log_ref + reward).log_softmax(-1)


def one_answer(log_ref, reward, beta):
    found = reference.best_policy(log_ref, reward, beta)
    return torch.where(found == found.max(), found, found.detach())


def any_price_but_zero(log_ref, reward, beta):
    if beta == 0:
        raise ValueError("beta")
    return (log_ref + reward / beta).log_softmax(-1)


MUTANTS = [exponential_overflows, nothing_is_impossible, reference_cut, any_price, one_answer, any_price_but_zero]
