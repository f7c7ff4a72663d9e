"""Right answers to `label_smoothing_loss` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn


def smoothing_by_targets(logits, targets, epsilon, mask):
    V = logits.shape[-1]
    smoothed = (1 - epsilon) * nn.functional.one_hot(targets, V).to(logits.dtype) + epsilon / V
    losses = -(smoothed * torch.log_softmax(logits, -1)).sum(-1)
    return (losses * mask).sum() / mask.sum()


def smoothing_in_a_loop(logits, targets, epsilon, mask):
    losses = []
    for b in range(mask.shape[0]):
        for t in range(mask.shape[1]):
            if mask[b, t]:
                log_p = logits[b, t].log_softmax(0)
                losses.append(-(1 - epsilon) * log_p[targets[b, t]] - epsilon * log_p.sum() / len(log_p))
    return torch.stack(losses).mean()


ALTERNATIVES = [smoothing_by_targets, smoothing_in_a_loop]
