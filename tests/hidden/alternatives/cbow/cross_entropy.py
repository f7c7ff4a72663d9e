"""Right answers to `cross_entropy` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_log_softmax(logits, targets):
    return -torch.log_softmax(logits, dim=1)[range(len(targets)), targets].mean()


def by_nll(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1), targets)


def by_one_hot(logits, targets):
    shifted = logits - logits.max(dim=1, keepdim=True).values
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -(F.one_hot(targets, logits.shape[1]).to(logits.dtype) * log_p).sum(dim=1).mean()


def row_by_row(logits, targets):
    losses = [torch.logsumexp(row, 0) - row[y] for row, y in zip(logits, targets, strict=True)]
    return sum(losses) / len(losses)


def differences_from_the_target(logits, targets):
    """log sum exp(z_v − z_y), which is the loss already."""
    return (logits - logits.gather(1, targets.unsqueeze(1))).logsumexp(1).mean()


def by_adding_in_logarithms(logits, targets):
    """One column after the other."""
    total = logits[:, 0]
    for column in logits.unbind(1)[1:]:
        total = torch.logaddexp(total, column)
    return (total - logits.take_along_dim(targets[:, None], 1).squeeze(1)).sum() / len(logits)


ALTERNATIVES = [
    by_log_softmax,
    by_nll,
    by_one_hot,
    row_by_row,
    differences_from_the_target,
    by_adding_in_logarithms,
]
