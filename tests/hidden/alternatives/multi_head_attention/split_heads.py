"""Right answers to `split_heads` that look nothing like the reference."""

from __future__ import annotations

from tests.hidden.alternatives.multi_head_attention.scaffold import (
    split_by_einops,
)


def split_by_view_and_permute(x, n_heads):
    B, T, D = x.size()
    d, rest = divmod(D, n_heads)
    if rest:
        raise ValueError("heads do not divide the width")
    return x.contiguous().view(B, T, n_heads, d).permute(0, 2, 1, 3).contiguous()


ALTERNATIVES = [split_by_einops, split_by_view_and_permute]
