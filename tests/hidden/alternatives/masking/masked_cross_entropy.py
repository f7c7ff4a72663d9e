"""Right answers to `masked_cross_entropy` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def loss_with_ignored_targets(logits, targets, mask):
    return F.cross_entropy(logits.transpose(1, 2), targets.masked_fill(~mask, -100))


def loss_in_a_loop(logits, targets, mask):
    losses = []
    for b, t in mask.nonzero().tolist():
        z = logits[b, t]
        losses.append(torch.logsumexp(z, 0) - z[targets[b, t]])
    return sum(losses) / len(losses)


ALTERNATIVES = [loss_with_ignored_targets, loss_in_a_loop]
