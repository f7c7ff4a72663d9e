"""Wrong answers to `attend` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import attend


def filled_with_minus_ten_thousand(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), -1) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def counted_instead_of_masked(scores, values, mask):
    return attend(scores, values, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))


def divided_again_after_the_softmax(scores, values, mask):
    kept = torch.softmax(scores, -1) * mask
    weights = kept / kept.sum(-1, keepdim=True).clamp(min=1e-12)
    return torch.einsum("bs,bsd->bd", weights, values), weights


def replaced_in_the_context_alone(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return torch.einsum("bs,bsd->bd", weights, values).nan_to_num(), weights


MUTANTS = [
    filled_with_minus_ten_thousand,
    counted_instead_of_masked,
    divided_again_after_the_softmax,
    replaced_in_the_context_alone,
]
