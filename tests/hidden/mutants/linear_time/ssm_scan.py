"""Wrong answers to `ssm_scan` that no misconception knows by name."""

from __future__ import annotations

import torch


def divides_by_the_powers(a_bar, b_bar, c, x):
    powers = a_bar[:, None] ** torch.arange(x.shape[1])
    return ((c * b_bar)[:, None] * powers * (x[:, None] / powers).cumsum(-1)).sum(1)


MUTANTS = [divides_by_the_powers]
