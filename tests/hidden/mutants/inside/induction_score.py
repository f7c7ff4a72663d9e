"""Wrong answers to `induction_score`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch


def _targets(ids, before=True):
    T = ids.shape[1]
    found = torch.zeros(len(ids), T, T, dtype=torch.bool)
    found[:, :, 1:] = (ids[:, :, None] == ids[:, None])[:, :, :-1]
    return found & torch.ones(T, T, dtype=torch.bool).tril(-1) if before else found


def mean_over_targets(attention, ids):
    targets = _targets(ids)
    return (attention * targets[:, None]).sum((0, 2, 3)) / targets.sum().clamp(min=1)


def mean_of_the_table(attention, ids):
    return (attention * _targets(ids)[:, None]).mean((0, 2, 3))


FIRST_ATTEMPTS = {
    mean_over_targets: "every value is 0.6667 times what it should be",
    mean_of_the_table: "every value is 0.08 times what it should be",
}


def not_a_number_without_targets(attention, ids):
    targets = _targets(ids)
    return (attention * targets[:, None]).sum((0, 2, 3)) / targets.any(-1).sum()


def later_copies_count(attention, ids):
    targets = _targets(ids, before=False)
    return (attention * targets[:, None]).sum((0, 2, 3)) / targets.any(-1).sum().clamp(min=1)


MUTANTS = [not_a_number_without_targets, later_copies_count]
