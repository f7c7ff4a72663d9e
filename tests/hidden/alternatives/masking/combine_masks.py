"""Right answers to `combine_masks` that look nothing like the reference."""

from __future__ import annotations

import einops
import torch


def combined_by_hand(padding, causal=None):
    B, S = padding.shape
    T = 1 if causal is None else causal.shape[0]
    out = torch.zeros(B, 1, T, S, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                out[b, 0, t, s] = bool(padding[b, s]) and (causal is None or bool(causal[t, s]))
    return out


def combined_by_einops(padding, causal=None):
    keys = einops.rearrange(padding, "b s -> b 1 1 s")
    return keys if causal is None else torch.logical_and(keys, einops.rearrange(causal, "t s -> 1 1 t s"))


ALTERNATIVES = [combined_by_hand, combined_by_einops]
