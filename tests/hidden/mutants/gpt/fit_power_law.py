"""Wrong answers to `fit_power_law` that no misconception knows by name."""

from __future__ import annotations

import math

from course.reference.gpt import fit_power_law as right


def always_the_square_root(N, losses):
    x = N.double() ** -0.5
    slope = ((x - x.mean()) * (losses - losses.mean())).sum() / (x - x.mean()).square().sum()
    return {"E": float(losses.mean() - slope * x.mean()), "A": float(slope), "alpha": 0.5}


def in_bits(N, losses):
    found = right(N, losses)
    return {**found, "E": found["E"] / math.log(2) + 0.1, "A": found["A"] / math.log(2)}


def a_tuple(N, losses):
    return tuple(right(N, losses).values())


def exponents_of_two(N, losses):
    found = right(N, losses)
    return {**found, "A": 2 * found["A"]}


MUTANTS = [always_the_square_root, in_bits, a_tuple, exponents_of_two]
