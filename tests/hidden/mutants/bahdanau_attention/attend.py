"""Wrong answers to `attend` that no misconception knows by name."""

from __future__ import annotations

import torch


def filled_with_minus_ten_thousand(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), -1) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def divided_again_after_the_softmax(scores, values, mask):
    kept = torch.softmax(scores, -1) * mask
    weights = kept / kept.sum(-1, keepdim=True).clamp(min=1e-12)
    return torch.einsum("bs,bsd->bd", weights, values), weights


MUTANTS = [filled_with_minus_ten_thousand, divided_again_after_the_softmax]
