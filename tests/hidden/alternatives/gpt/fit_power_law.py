"""Right answers to `fit_power_law` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import curve_fit


def by_curve_fit(N, losses):
    n, y = N.double().numpy(), losses.double().numpy()
    smallest = n.min()
    (E, drop, alpha), _ = curve_fit(
        lambda n, E, drop, alpha: E + drop * (n / smallest) ** -alpha, n, y, p0=(y.min(), np.ptp(y), 0.5), maxfev=20000
    )
    return {"alpha": alpha, "A": drop * smallest**alpha, "E": E}


def by_descent(N, losses):
    """Newton-like descent from a few starts, in logarithms of N and of what is above the floor."""
    x, y = N.double().log(), losses.double()
    x, span = x - x.mean(), y.max() - y.min()
    fits = []
    for alpha in (0.2, 0.5, 1.0):
        three = torch.tensor([0.0, 0.0, alpha], dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.LBFGS([three], max_iter=400, tolerance_grad=1e-14, tolerance_change=1e-16,
                                      line_search_fn="strong_wolfe")  # fmt: skip

        def error(three=three, optimizer=optimizer):
            optimizer.zero_grad()
            found = three[0] + torch.exp(three[1] - three[2] * x)
            loss = (found - (y - y.min()) / span).square().sum()
            loss.backward()
            return loss

        optimizer.step(error)
        fits.append((float(error()), three.detach()))
    floor, log_drop, alpha = min(fits, key=lambda fit: fit[0])[1].tolist()
    log_A = log_drop + alpha * float(N.double().log().mean())
    return {"E": float(y.min() + span * floor), "A": float(span * torch.tensor(log_A).exp()), "alpha": alpha}


ALTERNATIVES = [by_curve_fit, by_descent]
