"""Right answers to `cross_entropy` that look nothing like the reference."""

from __future__ import annotations

from torch.nn import functional as F


def by_nll(logits, targets):
    return F.nll_loss(F.log_softmax(logits, dim=-1), targets)


def by_one_hot(logits, targets):
    shifted = logits - logits.max(dim=1, keepdim=True).values
    log_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()
    return -(F.one_hot(targets, logits.shape[1]).to(logits.dtype) * log_p).sum(dim=1).mean()


ALTERNATIVES = [by_nll, by_one_hot]
