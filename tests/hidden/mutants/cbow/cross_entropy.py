"""Wrong answers to `cross_entropy` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def _log_p(logits, dim=1):
    return torch.log_softmax(logits, dim)


def c_sum_reduction(logits, targets):
    return F.nll_loss(_log_p(logits), targets, reduction="sum")


def one_against_all(logits, targets):
    return F.binary_cross_entropy_with_logits(logits, F.one_hot(targets, logits.shape[1]).to(logits))


def squared_error(logits, targets):
    return (torch.softmax(logits, 1) - F.one_hot(targets, logits.shape[1])).square().sum(1).mean()


def largest_for_logsumexp(logits, targets):
    return (logits.amax(1) - logits[range(len(targets)), targets]).mean()


def detached(logits, targets):
    return F.nll_loss(_log_p(logits.detach()), targets)


def always_the_first_target(logits, targets):
    return F.nll_loss(_log_p(logits), targets[:1].expand_as(targets))


def shifted_in_place(logits, targets):
    with torch.no_grad():
        logits -= logits.amax(1, keepdim=True)
    return F.nll_loss(_log_p(logits), targets)


def a_python_number(logits, targets):
    return F.nll_loss(_log_p(logits), targets).item()


def median_for_mean(logits, targets):
    return F.nll_loss(_log_p(logits), targets, reduction="none").median()


def label_smoothing(logits, targets):
    return 0.99 * F.nll_loss(_log_p(logits), targets) - 0.01 * _log_p(logits).mean()


MUTANTS = [
    c_sum_reduction,
    one_against_all,
    squared_error,
    largest_for_logsumexp,
    detached,
    always_the_first_target,
    shifted_in_place,
    a_python_number,
    median_for_mean,
    label_smoothing,
]
