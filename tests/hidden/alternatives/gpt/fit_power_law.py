"""Right answers to `fit_power_law` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import curve_fit, least_squares


def by_scipy(N, losses):
    """All three at once, from several beginnings."""
    x, y = np.log(N.numpy()), losses.numpy()
    x0 = x.min()

    def errors(three):
        E, drop, alpha = three
        return E + drop * np.exp(-alpha * (x - x0)) - y

    starts = [(y.min() - 0.1, np.ptp(y), alpha) for alpha in (0.2, 0.5, 1.0)]
    best = min((least_squares(errors, s, xtol=1e-14, ftol=1e-14, gtol=1e-14) for s in starts), key=lambda r: r.cost)
    E, drop, alpha = best.x
    return {"E": float(E), "A": float(drop * np.exp(alpha * x0)), "alpha": float(alpha)}


def by_curve_fit(N, losses):
    n, y = N.double().numpy(), losses.double().numpy()
    smallest = n.min()
    (E, drop, alpha), _ = curve_fit(
        lambda n, E, drop, alpha: E + drop * (n / smallest) ** -alpha, n, y, p0=(y.min(), np.ptp(y), 0.5), maxfev=20000
    )
    return {"alpha": alpha, "A": drop * smallest**alpha, "E": E}


def by_a_straight_line(N, losses):
    """For each floor E, ln(loss - E) over ln N; the floor at which it is straightest."""
    x, lowest = N.double().log(), float(losses.min())
    best = None
    step = float(losses.max()) - lowest
    floors = lowest - step * torch.logspace(-6, 1, 4000, dtype=torch.float64)
    for _ in range(4):
        for floor in floors.tolist():
            y = (losses.double() - floor).log()
            slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
            error = float((y - y.mean() - slope * (x - x.mean())).square().sum())
            if best is None or error < best[0]:
                best = error, floor, float(-slope), float((y.mean() - slope * x.mean()).exp())
        width = float(floors[0] - floors[1]) if len(floors) == 200 else abs(best[1] - lowest) * 0.01
        floors = torch.linspace(best[1] + width, best[1] - width, 200, dtype=torch.float64).clamp(max=lowest - 1e-9)
    return {"E": best[1], "A": best[3], "alpha": best[2]}


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


ALTERNATIVES = [by_scipy, by_curve_fit, by_a_straight_line, by_descent]
