"""Right answers to `fit_ar` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch


def by_normal_equations(x, order):
    rows = torch.stack([x[order - 1 - k : len(x) - 1 - k] for k in range(order)])
    return torch.linalg.solve(rows @ rows.T, rows @ x[order:])


def by_numpy(x, order):
    values = x.numpy()
    rows = np.array([values[t - order : t][::-1] for t in range(order, len(values))])
    return torch.from_numpy(np.linalg.lstsq(rows, values[order:], rcond=None)[0])


ALTERNATIVES = [by_normal_equations, by_numpy]
