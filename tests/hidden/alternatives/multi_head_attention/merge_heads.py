"""Right answers to `merge_heads` that look nothing like the reference."""

from __future__ import annotations

from tests.hidden.alternatives.multi_head_attention.scaffold import merge_by_einops


def merge_by_view(x):
    B, h, T, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, h * d)


ALTERNATIVES = [merge_by_einops, merge_by_view]
