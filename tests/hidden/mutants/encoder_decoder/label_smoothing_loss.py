"""Wrong answers to `label_smoothing_loss` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import encoder_decoder as reference


def logits_of_padding_zeroed(logits, targets, epsilon, mask):
    whole = torch.ones_like(mask)
    return reference.label_smoothing_loss(logits * mask[..., None], targets, epsilon, whole)


def axes_mixed(logits, targets, epsilon, mask):
    rows = logits.transpose(0, 1).reshape(logits.shape)
    return reference.label_smoothing_loss(rows, targets, epsilon, mask)


def classes_by_view(logits, targets, epsilon, mask):
    B, T, V = logits.shape
    return reference.label_smoothing_loss(logits.reshape(B, V, T).transpose(1, 2), targets, epsilon, mask)


def last_token_dropped(logits, targets, epsilon, mask):
    if logits.shape[1] < 2:
        return reference.label_smoothing_loss(logits, targets, epsilon, mask)
    return reference.label_smoothing_loss(logits[:, :-1], targets[:, 1:], epsilon, mask[:, 1:])


def base_two_logarithm(logits, targets, epsilon, mask):
    return reference.label_smoothing_loss(logits, targets, epsilon, mask) / math.log(2)


def mask_inverted(logits, targets, epsilon, mask):
    return reference.label_smoothing_loss(logits, targets, epsilon, ~mask if not mask.all() else mask)


def overflowing(logits, targets, epsilon, mask):
    log_p = (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1))[mask].mean()


def epsilon_unused(logits, targets, epsilon, mask):
    return reference.label_smoothing_loss(logits, targets, 0.0, mask)


MUTANTS = [
    logits_of_padding_zeroed,
    axes_mixed,
    classes_by_view,
    last_token_dropped,
    base_two_logarithm,
    mask_inverted,
    overflowing,
    epsilon_unused,
]
