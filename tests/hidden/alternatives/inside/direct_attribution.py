"""Right answers to `direct_attribution` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def logits_of_all_tokens(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    root = (sum(parts).pow(2).mean(-1, keepdim=True) + eps) ** 0.5
    logits = F.linear(parts / root * gamma, W_U)  # (P, ..., V)
    shares = [
        logits.gather(-1, token.expand(parts.shape[:-1]).unsqueeze(-1))[..., 0]
        for token in (right, wrong)
        if token is not None
    ]
    return shares[0] if wrong is None else shares[0] - shares[1]


def part_by_part(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    direction = gamma * W_U[right]
    if wrong is not None:
        direction = direction - gamma * W_U[wrong]
    whole = parts.sum(dim=0)
    norm = torch.sqrt((whole * whole).sum(-1) / whole.shape[-1] + eps).detach()
    return torch.stack([torch.einsum("...d,...d->...", part, direction) / norm for part in parts])


ALTERNATIVES = [logits_of_all_tokens, part_by_part]
