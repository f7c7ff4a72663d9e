"""Wrong answers to `general_scores` that no misconception knows by name."""

from __future__ import annotations

import torch


def general_symmetric(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, (W + W.T) / 2 if W.shape[0] == W.shape[1] else W, keys)


def general_plus_dot(query, keys, W):
    scores = torch.einsum("bq,qk,bsk->bs", query, W, keys)
    return scores + torch.einsum("bd,bsd->bs", query, keys) if query.shape[1] == keys.shape[2] else scores


def general_w_frozen(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, W.detach(), keys)


MUTANTS = [general_symmetric, general_plus_dot, general_w_frozen]
