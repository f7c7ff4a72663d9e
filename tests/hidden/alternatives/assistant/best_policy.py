"""Right answers to `best_policy` that look nothing like the reference."""

from __future__ import annotations


def _positive(beta):
    if not beta > 0:
        raise ValueError(f"a price of {beta}")


def by_the_largest(log_ref, reward, beta):
    _positive(beta)
    weights = reward * (1 / beta) + log_ref
    weights = weights - weights.max()
    return weights - weights.exp().sum().log()


def in_float32(log_ref, reward, beta):
    _positive(beta)
    return (log_ref.float() + reward.float() / beta).log_softmax(0).to(log_ref.dtype)


ALTERNATIVES = [by_the_largest, in_float32]
