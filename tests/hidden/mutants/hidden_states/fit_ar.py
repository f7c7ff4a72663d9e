"""Wrong answers to `fit_ar` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.hidden_states import fit_ar


def signs_turned(x, order):
    return -fit_ar(x, order)


def first_half_only(x, order):
    return fit_ar(x[: max(2 * order, len(x) // 2)], order)


def the_future_from_the_past(x, order):
    return fit_ar(x.flip(0), order)


def a_little_ridge(x, order):
    rows = torch.stack([x[order - k : len(x) - k] for k in range(1, order + 1)], 1)
    return torch.linalg.solve(rows.T @ rows + 1e-2 * torch.eye(order).to(x), rows.T @ x[order:])


MUTANTS = [signs_turned, first_half_only, the_future_from_the_past, a_little_ridge]
