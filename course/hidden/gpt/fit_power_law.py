"""Hidden tests of `fit_power_law`: E, A and alpha of exact laws, by any method."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise
from course.reference import gpt as reference

BECAUSE = "{} is not the law's: put your numbers back into the law, and compare the losses"
NEARLY = "alpha is near the law's, and not near enough. How far apart are the alphas that you tried?"
RISES = "A is below 0, so with a positive alpha your law rises with N. Do the losses rise? Plot the column that you fit"
ROUGHLY = 0.15
"""How far off an alpha is that a coarse search finds."""
SHARE = 0.02
"""How near to what a known mistake gives an entry is, as a share of it, to be taken for that."""


@exercise(
    reference.fit_power_law,
    hints=(
        "Take N four times as large each time, and losses of 3.5, 3.0 and 2.75. What do the differences do?",
        "For a given alpha, is the law a straight line in some variable? Then E and A are what least squares gives.",
        "Put your E, A and alpha back into the law. Do the losses come out?",
        "Begin with one alpha, such as 0.5, and the losses of the first hint. Fit E and A, and print the sum of the "
        "squared errors. Which other alpha makes it larger or smaller?",
    ),
)
def fit_power_law(rng):
    """Losses that follow the law exactly. E is held to 2 % of the losses' span, alpha to 2 %, and ln A to 0.15.

    What a known mistake makes of an entry is asked for, too: any other wrong number is none of them.
    """

    def law_of(title, N, E, drop, alpha, public=False):
        N = torch.tensor(N, dtype=torch.float64)
        A = drop * float(N[0]) ** alpha
        losses = E + A / N**alpha
        near = 0.02 * float(losses.max() - losses.min())
        asked = call(title, N, losses, grad=False, public=public, weight=2.0).laws_only()
        floors = [float(losses.min())] + [0.0] * (E > 0)
        yield _entry(asked, "E", E, near, floors)
        roughly = asked.judged_again(f"{title}: alpha").law(
            "entry_close", key="alpha", value=alpha, within=ROUGHLY, because=BECAUSE.format("alpha")
        )
        yield _entry(roughly, "alpha", alpha, 0.02 * alpha, [-alpha], NEARLY)
        in_units = [A / float(unit) ** alpha for unit in (N[0], N.min(), N.max(), N.mean())]
        logarithms = [math.log(A), math.log10(A), math.log2(A)]
        falling = asked.judged_again(f"{title}: A").law("entry_positive", key="A", because=RISES)
        again = _entry(falling, "A", A, 0.14 * A, in_units)
        yield _apart(again, "A", A, 0.14 * A, logarithms)
        anything = asked.judged_again(f"{title}: a dict", weight=0.1).law("entry_close", key="E", value=E, within=1e12)
        yield anything.counts_with(title)

    yield from law_of("three sizes", [1e4, 4e4, 16e4], 2.5, 1.0, 0.5, public=True)
    E, alpha = 1.5 + float(rng.uniform(1)), 0.3 + 0.4 * float(rng.uniform(1))
    yield from law_of("six sizes over a factor of 300", [1e3, 3e3, 1e4, 3e4, 1e5, 3e5], E, 1.7, alpha)
    yield from law_of("sizes in no order", [3e4, 1e3, 2e5, 7e3, 1e5], 2.0, 0.9, 0.35 + 0.3 * float(rng.uniform(1)))
    yield from law_of("a floor of zero", [1e3, 5e3, 3e4, 2e5], 0.0, 3.0, 0.437, public=True)


def _entry(case, key, value, within, mistaken, because=""):
    """The case with the laws of one entry: near the right value, and near none that only a known mistake gives."""
    case = case.law("entry_close", key=key, value=value, within=within, because=because or BECAUSE.format(key))
    return _apart(case, key, value, within, mistaken)


def _apart(case, key, value, within, mistaken):
    """The case with a law that the entry is near none of these values, unless a right one may be, too."""
    far = [other for other in mistaken if abs(other - value) > within + SHARE * max(1.0, abs(other))]
    return case.law("entry_apart", key=key, values=far, within=SHARE)


def _straight_line(N, losses):
    """Slope and intercept of ln losses over ln N."""
    x, y = N.double().log(), losses.log()
    slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()
    return float(slope), float(y.mean() - slope * x.mean())


@fit_power_law.misconception("Where do your losses end for an infinite N? Look at the last differences.")
def no_floor(N, losses):
    slope, intercept = _straight_line(N, losses)
    return {"E": 0.0, "A": math.exp(intercept), "alpha": -slope}


@fit_power_law.misconception("The largest N is not infinite. Is the loss of the law at this N really E?")
def floor_at_the_smallest_loss(N, losses):
    floor = float(losses.min())
    slope, intercept = _straight_line(N, losses - floor + 1e-3)
    return {"E": floor, "A": math.exp(intercept), "alpha": -slope}


@fit_power_law.misconception("For alpha = 0.5 the loss falls as N grows. Which sign has your alpha?")
def alpha_negative(N, losses):
    found = reference.fit_power_law(N, losses)
    return {**found, "alpha": -found["alpha"]}


@fit_power_law.misconception(
    "Put your A back into the law, with N as it is given. By what did you divide N before the fit?"
)
def A_for_sizes_in_other_units(N, losses):
    found = reference.fit_power_law(N, losses)
    return {**found, "A": found["A"] / float(N[0]) ** found["alpha"]}


@fit_power_law.misconception("Put your A back into the law. Is it A, or its logarithm?")
def logarithm_of_A(N, losses):
    found = reference.fit_power_law(N, losses)
    return {**found, "A": math.log(found["A"])}
