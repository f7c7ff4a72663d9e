"""Wrong answers to `additive_scores`: a beginner's first attempts, and one that overflows."""

from __future__ import annotations


def tanh_overflows(query, keys, W_q, W_k, v):
    a = (query @ W_q.T)[:, None] + keys @ W_k.T
    return (a.exp() - (-a).exp()) / (a.exp() + (-a).exp()) @ v


MUTANTS = [tanh_overflows]
