"""Right answers to `prefix_scan` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def odds_and_evens(a, b):
    """Pairs become one step each, half as many are scanned, and the places between are filled in."""
    T = a.shape[1]
    if T == 1:
        return b + 0
    even = T - T % 2
    first, second = (slice(0, even, 2), slice(1, even, 2))
    ends = odds_and_evens(a[:, second] * a[:, first], a[:, second] * b[:, first] + b[:, second])
    before = F.pad(ends, (0, 0, 1, 0))[:, : (T + 1) // 2]
    starts = a[:, ::2] * before + b[:, ::2]
    out = torch.zeros_like(b)
    out[:, ::2], out[:, 1::2] = starts, ends
    return out


def steps_within_blocks(a, b):
    """Thirty-two steps in all blocks at once, and then the blocks one by one, in float32."""
    (B, T, N), kind = a.shape, a.dtype
    missing = -T % 32
    a, b = (x.float() for x in (F.pad(a, (0, 0, 0, missing), value=1.0), F.pad(b, (0, 0, 0, missing))))
    a, b = (x.reshape(B, -1, 32, N).unbind(2) for x in (a, b))
    h, product, states, products = torch.zeros_like(b[0]), torch.ones_like(a[0]), [], []
    for a_t, b_t in zip(a, b, strict=True):
        h, product = a_t * h + b_t, a_t * product
        states.append(h)
        products.append(product)
    before, starts = torch.zeros_like(h[:, 0]), []
    for left, factor in zip(h.unbind(1), product.unbind(1), strict=True):
        starts.append(before)
        before = factor * before + left
    out = torch.stack(states, 2) + torch.stack(products, 2) * torch.stack(starts, 1)[:, :, None]
    return out.reshape(B, -1, N)[:, :T].to(kind)


ALTERNATIVES = [odds_and_evens, steps_within_blocks]
