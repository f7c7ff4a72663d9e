"""Right answers to `pretraining_loss` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_a_branch(word_logits, labels, pair_logits, is_next):
    loss = F.cross_entropy(pair_logits, is_next)
    if (labels != -100).any():
        loss = loss + F.cross_entropy(word_logits.transpose(1, 2), labels)
    return loss


def by_log_softmax(word_logits, labels, pair_logits, is_next):
    hidden = (labels >= 0).to(word_logits)
    log_p = word_logits.log_softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    words = -(log_p * hidden).sum() / torch.maximum(hidden.sum(), torch.ones(()))
    return words - pair_logits.log_softmax(1)[torch.arange(len(is_next)), is_next].mean()


ALTERNATIVES = [by_a_branch, by_log_softmax]
