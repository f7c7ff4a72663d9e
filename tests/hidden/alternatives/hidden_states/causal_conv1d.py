"""Right answers to `causal_conv1d` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_cutting_off_the_end(x, W, b, dilation=1):
    """Pad both sides, and drop the outputs that depend on the future."""
    return F.conv1d(x, W, b, padding=(W.shape[-1] - 1) * dilation, dilation=dilation)[:, :, : x.shape[-1]]


def tap_by_tap(x, W, b, dilation=1):
    T, k = x.shape[2], W.shape[2]
    out = b[None, :, None].expand(len(x), -1, T)
    for i in range(k):
        late = (k - 1 - i) * dilation
        if late < T:
            out = out + F.pad(torch.einsum("bct,dc->bdt", x[:, :, : T - late], W[:, :, i]), (late, 0))
    return out


ALTERNATIVES = [by_cutting_off_the_end, tap_by_tap]
