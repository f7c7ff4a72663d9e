"""Wrong answers to `pretraining_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def _losses(word_logits, labels, pair_logits, is_next, *, in_log=0.0, in_count=0.0):
    hidden = labels != -100
    p = word_logits.softmax(-1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    words = -((p + in_log).log() * hidden).sum() / (hidden.sum().clamp(min=0 if in_count else 1) + in_count)
    return words + F.cross_entropy(pair_logits, is_next)


def epsilon_in_the_logarithm(word_logits, labels, pair_logits, is_next):
    return _losses(word_logits, labels, pair_logits, is_next, in_log=1e-8)


def epsilon_in_the_count(word_logits, labels, pair_logits, is_next):
    return _losses(word_logits, labels, pair_logits, is_next, in_count=1e-5)


MUTANTS = [epsilon_in_the_logarithm, epsilon_in_the_count]
