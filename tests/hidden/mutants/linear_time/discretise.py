"""Wrong answers to `discretise` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def growth(a, b, delta):
    return torch.exp(-delta * a), (torch.exp(-delta * a) - 1) / -a * b


def exchanged(a, b, delta):
    return reference.discretise(a, b, delta)[::-1]


def two_steps_in_one(a, b, delta):
    return reference.discretise(a, b, 2 * delta)


def first_two_terms(a, b, delta):
    return torch.exp(delta * a), delta * b * (1 + delta * a / 2)


def constants(a, b, delta):
    return tuple(each.detach() for each in reference.discretise(a, b, delta))


MUTANTS = [growth, exchanged, two_steps_in_one, first_two_terms, constants]
