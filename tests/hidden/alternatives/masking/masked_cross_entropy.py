"""Right answers to `masked_cross_entropy` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def loss_with_ignored_targets(logits, targets, mask):
    return F.cross_entropy(logits.transpose(1, 2), targets.masked_fill(~mask, -100))


def loss_of_each_and_mean(logits, targets, mask):
    each = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), reduction="none")
    return (each.view(mask.shape) * mask).sum() / mask.sum()


def loss_in_a_loop(logits, targets, mask):
    losses = []
    for b, t in mask.nonzero().tolist():
        z = logits[b, t]
        losses.append(torch.logsumexp(z, 0) - z[targets[b, t]])
    return sum(losses) / len(losses)


ALTERNATIVES = [loss_with_ignored_targets, loss_of_each_and_mean, loss_in_a_loop]
