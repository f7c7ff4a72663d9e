"""Right answers to `logit_lens` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def with_torchs_norm(stream, gamma, W_U, eps=1e-6):
    return F.linear(F.rms_norm(stream, stream.shape[-1:], gamma, eps), W_U)


def by_einsum(stream, gamma, W_U, eps=1e-6):
    D = stream.shape[-1]
    root = torch.sqrt(torch.einsum("...d,...d->...", stream, stream) / D + eps)
    return torch.einsum("...d,d,vd->...v", stream, gamma, W_U) / root.unsqueeze(-1)


ALTERNATIVES = [with_torchs_norm, by_einsum]
