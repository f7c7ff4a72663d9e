"""Wrong answers to `masked_cross_entropy` that no misconception knows by name."""

from __future__ import annotations

import math

from course.reference import masking as right


def _each(logits, targets):
    return logits.logsumexp(-1) - logits.gather(-1, targets[..., None]).squeeze(-1)


def e_mix(logits, targets, mask):
    return _each(logits.transpose(0, 1).reshape(logits.shape), targets)[mask].mean()


def e_nll_logits(logits, targets, mask):
    return -logits.gather(-1, targets[..., None]).squeeze(-1)[mask].mean()


def e_drop_last(logits, targets, mask):
    return right.masked_cross_entropy(logits[:, :-1], targets[:, :-1], mask[:, :-1])


def in_bits(logits, targets, mask):
    return right.masked_cross_entropy(logits, targets, mask) / math.log(2)


def a_loss_a_sentence(logits, targets, mask):
    return (_each(logits, targets) * mask).sum(1) / mask.sum(1).clamp(min=1)


def unstable_logarithms(logits, targets, mask):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return -p.gather(-1, targets[..., None]).squeeze(-1)[mask].log().mean()


def next_words_loss(logits, targets, mask):
    return _each(logits, targets.roll(-1, 1))[mask].mean()


MUTANTS = [
    e_mix,
    e_nll_logits,
    e_drop_last,
    in_bits,
    a_loss_a_sentence,
    unstable_logarithms,
    next_words_loss,
]
