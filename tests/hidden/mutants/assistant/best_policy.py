"""Wrong answers to `best_policy` that no misconception knows by name."""

from __future__ import annotations

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


def any_price_but_zero(log_ref, reward, beta):
    if beta == 0:
        raise ValueError("beta")
    return (log_ref + reward / beta).log_softmax(-1)


MUTANTS = [exponential_overflows, nothing_is_impossible, reference_cut, any_price_but_zero]
