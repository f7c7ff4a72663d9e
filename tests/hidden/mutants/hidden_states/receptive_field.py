"""Wrong answers to `receptive_field` that no misconception knows by name."""

from __future__ import annotations


def doubling_taken_for_granted(kernel, dilations):
    return 1 + (kernel - 1) * (2 ** len(dilations) - 1)


def both_sides(kernel, dilations):
    return 1 + 2 * (kernel - 1) * sum(dilations)


MUTANTS = [doubling_taken_for_granted, both_sides]
