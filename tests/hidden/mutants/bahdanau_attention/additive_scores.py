"""Wrong answers to `additive_scores`: a beginner's first attempts, and one that overflows."""

from __future__ import annotations

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def as_the_formula_is_written(query, keys, W_q, W_k, v):
    return v @ torch.tanh(W_q @ query + W_k @ keys)


def no_new_axis(query, keys, W_q, W_k, v):
    return torch.tanh(query @ W_q.T + keys @ W_k.T) @ v


def v_in_front(query, keys, W_q, W_k, v):
    return v @ torch.tanh((query @ W_q.T)[:, None] + keys @ W_k.T)


def not_summed(query, keys, W_q, W_k, v):
    return torch.tanh((query @ W_q.T)[:, None] + keys @ W_k.T) * v


def summed_over_the_keys(query, keys, W_q, W_k, v):
    return (torch.tanh((query @ W_q.T)[:, None] + keys @ W_k.T) * v).sum(1)


FIRST_ATTEMPTS = {
    as_the_formula_is_written: "A query is a row, and weights are (out, in).",
    no_new_axis: "Which axes meet, and which one is missing?",
    v_in_front: "Which of these axes should meet v and disappear?",
    not_summed: "Which of these axes should meet v and disappear?",
    summed_over_the_keys: "Which of these axes should meet v and disappear?",
}

# -- others ------------------------------------------------------------------------------------------------------------


def tanh_overflows(query, keys, W_q, W_k, v):
    a = (query @ W_q.T)[:, None] + keys @ W_k.T
    return (a.exp() - (-a).exp()) / (a.exp() + (-a).exp()) @ v


MUTANTS = [tanh_overflows]
