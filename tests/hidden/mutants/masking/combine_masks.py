"""Wrong answers to `combine_masks` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def k_padonly(padding, causal=None):
    return padding[:, None, None]


def k_causalonly(padding, causal=None):
    return padding[:, None, None] if causal is None else causal[None, None].expand(len(padding), 1, -1, -1)


def k_batch0(padding, causal=None):
    return right.combine_masks(padding[:1].repeat(len(padding), 1), causal)


def exclusive_or(padding, causal=None):
    return padding[:, None, None] if causal is None else padding[:, None, None] ^ causal


def queries_and_keys_exchanged(padding, causal=None):
    return right.combine_masks(padding, causal).mT


def heads_last(padding, causal=None):
    return right.combine_masks(padding, causal).squeeze(1).unsqueeze(-1)


def always_every_query(padding, causal=None):
    S = padding.shape[1]
    return right.combine_masks(padding, torch.ones(S, S, dtype=torch.bool) if causal is None else causal)


def causality_made_anew(padding, causal=None):
    return right.combine_masks(padding, None if causal is None else right.causal_mask(padding.shape[1]))


MUTANTS = [
    k_padonly,
    k_causalonly,
    k_batch0,
    exclusive_or,
    queries_and_keys_exchanged,
    heads_last,
    always_every_query,
    causality_made_anew,
]
