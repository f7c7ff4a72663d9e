"""Wrong answers to `additive_scores` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import additive_scores


def b_dot(query, keys, W_q, W_k, v):
    return torch.einsum("ba,bsa->bs", query @ W_q.T, keys @ W_k.T) + 0 * v.sum()


def tanh_overflows(query, keys, W_q, W_k, v):
    a = (query @ W_q.T)[:, None] + keys @ W_k.T
    return (a.exp() - (-a).exp()) / (a.exp() + (-a).exp()) @ v


def one_score_for_all(query, keys, W_q, W_k, v):
    return additive_scores(query, keys, W_q, W_k, v).mean(1, keepdim=True).expand(-1, keys.shape[1])


def weights_cut_from_the_graph(query, keys, W_q, W_k, v):
    return additive_scores(query.detach(), keys, W_q.detach(), W_k, v)


def a_trailing_axis(query, keys, W_q, W_k, v):
    return additive_scores(query, keys, W_q, W_k, v).unsqueeze(-1)


def always_float32(query, keys, W_q, W_k, v):
    return additive_scores(query.float(), keys.float(), W_q.float(), W_k.float(), v.float())


MUTANTS = [
    b_dot,
    tanh_overflows,
    one_score_for_all,
    weights_cut_from_the_graph,
    a_trailing_axis,
    always_float32,
]
