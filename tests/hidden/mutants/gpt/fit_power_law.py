"""Wrong answers to `fit_power_law`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import gpt as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def searched(name, alphas, sign):
    """An answer that searches these alphas, with a column of N to the power of sign · alpha."""

    def fit(N, losses):
        fits = []
        for alpha in alphas.tolist():
            columns = torch.stack([torch.ones_like(N), (N / N[0]) ** (sign * alpha)], 1)
            line = torch.linalg.lstsq(columns, losses[:, None]).solution
            error = (columns @ line - losses[:, None]).square().sum()
            fits.append((float(error), float(line[0]), float(line[1]) * float(N[0]) ** (-sign * alpha), alpha))
        _, E, A, alpha = min(fits)
        return {"E": E, "A": A, "alpha": alpha}

    fit.__name__ = name
    return fit


def three_numbers(N, losses):
    return tuple(reference.fit_power_law(N, losses).values())


FIRST_ATTEMPTS = {
    three_numbers: "expected a dict with an entry 'A', got a tuple",
    searched("steps_of_a_tenth", torch.arange(0.1, 2, 0.1), sign=-1): "How far apart are the alphas that you tried?",
    searched("twenty_alphas", torch.linspace(0.05, 2, 20), sign=-1): "How far apart are the alphas that you tried?",
    searched("sign_turned", torch.arange(0.05, 2, 0.001), sign=1): "so with a positive alpha your law rises with N",
}

# -- others ------------------------------------------------------------------------------------------------------------


def always_the_square_root(N, losses):
    x = N.double() ** -0.5
    slope = ((x - x.mean()) * (losses - losses.mean())).sum() / (x - x.mean()).square().sum()
    return {"E": float(losses.mean() - slope * x.mean()), "A": float(slope), "alpha": 0.5}


MUTANTS = [always_the_square_root]
