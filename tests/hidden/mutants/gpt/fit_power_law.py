"""Wrong answers to `fit_power_law` that no misconception knows by name."""

from __future__ import annotations


def always_the_square_root(N, losses):
    x = N.double() ** -0.5
    slope = ((x - x.mean()) * (losses - losses.mean())).sum() / (x - x.mean()).square().sum()
    return {"E": float(losses.mean() - slope * x.mean()), "A": float(slope), "alpha": 0.5}


MUTANTS = [always_the_square_root]
