"""Right answers to `selective_scan` that look nothing like the reference."""

from __future__ import annotations

import torch


def in_passes(x, delta, A, B, C):
    a = (delta[..., None] * A).exp()
    b = (delta * x)[..., None] * B[:, :, None]
    s = 1
    while s < x.shape[1]:
        b = torch.cat((b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]), 1)
        a = torch.cat((a[:, :s], a[:, s:] * a[:, :-s]), 1)
        s += s
    return (b @ C[..., None]).squeeze(-1)


def in_float32(x, delta, A, B, C):
    """As in Mamba's own code."""
    kept = torch.exp(torch.einsum("bld,dn->bldn", delta.float(), A.float()))
    written = torch.einsum("bld,bln,bld->bldn", delta.float(), B.float(), x.float())
    h, ys = 0.0, []
    for t in range(x.shape[1]):
        h = kept[:, t] * h + written[:, t]
        ys.append(torch.einsum("bdn,bn->bd", h, C[:, t].float()))
    return torch.stack(ys, 1).to(x.dtype)


ALTERNATIVES = [in_passes, in_float32]
