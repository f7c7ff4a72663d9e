"""Wrong answers to `linear_attention_step` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import linear_time as reference


def state_forgotten(state, q, k, v):
    return reference.linear_attention_step(tuple(each * 0 for each in state), q, k, v)


def z_counts_tokens(state, q, k, v):
    out, (S, z) = reference.linear_attention_step(state, q, k, v)
    return out, (S, state[1] + 1 + 0 * z)


def no_feature_map(state, q, k, v):
    S, z = state[0] + k[:, :, None] * v[:, None], state[1] + k
    return (q[:, :, None] * S).sum(1) / (q * z).sum(-1, keepdim=True), (S, z)


def one_sum_comes_back(state, q, k, v):
    out, (S, _) = reference.linear_attention_step(state, q, k, v)
    return out, S


def half_remembered(state, q, k, v):
    out, (S, _) = reference.linear_attention_step(state, q, k, v)
    return out, (S, state[1] + F.elu(k))


MUTANTS = [state_forgotten, z_counts_tokens, no_feature_map, one_sum_comes_back, half_remembered]
