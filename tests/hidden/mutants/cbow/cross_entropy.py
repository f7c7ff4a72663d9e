"""Wrong answers to `cross_entropy`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

# -- first attempts ----------------------------------------------------------------------------------------------------


def formula_and_columns_of_all_rows(logits, targets):
    p = torch.exp(logits) / torch.exp(logits).sum(dim=1, keepdim=True)
    return -torch.log(p[:, targets]).mean()


def formula_down_the_batch(logits, targets):
    p = torch.exp(logits) / torch.exp(logits).sum(dim=0)
    return -torch.log(p[torch.arange(len(targets)), targets]).mean()


def sum_for_mean(logits, targets):
    log_p = torch.log_softmax(logits, dim=1)
    return -log_p[torch.arange(len(targets)), targets].sum()


def minus_forgotten(logits, targets):
    return (logits[torch.arange(len(targets)), targets] - torch.logsumexp(logits, dim=1)).mean()


def one_loss_a_row(logits, targets):
    return torch.logsumexp(logits, dim=1) - logits[torch.arange(len(targets)), targets]


FIRST_ATTEMPTS = {
    formula_and_columns_of_all_rows: "how many do you look up?",
    formula_down_the_batch: "over each row, then over each column",
    sum_for_mean: "which is 3 times what it should be",
    minus_forgotten: "right except for its sign",
    one_loss_a_row: "expected the shape (), got (3,)",
}

# -- others ------------------------------------------------------------------------------------------------------------


def _log_p(logits, dim=1):
    return torch.log_softmax(logits, dim)


def largest_for_logsumexp(logits, targets):
    return (logits.amax(1) - logits[range(len(targets)), targets]).mean()


def detached(logits, targets):
    return F.nll_loss(_log_p(logits.detach()), targets)


def shifted_in_place(logits, targets):
    with torch.no_grad():
        logits -= logits.amax(1, keepdim=True)
    return F.nll_loss(_log_p(logits), targets)


MUTANTS = [largest_for_logsumexp, detached, shifted_in_place]
