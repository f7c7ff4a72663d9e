"""Wrong answers to `ssm_scan` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def backwards(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar, b_bar, c, x.flip(1)).flip(1)


def fades_twice(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar * a_bar, b_bar, c, x)


def input_fades_too(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar, a_bar * b_bar, c, x)


def the_last_one_for_all(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar, b_bar, c, x)[:, -1:].expand_as(x)


def first_state_alone(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar[:1], b_bar[:1], c[:1], x)


def mean_of_decays(a_bar, b_bar, c, x):
    return reference.ssm_scan(a_bar.mean().expand_as(a_bar), b_bar, c, x)


def divides_by_the_powers(a_bar, b_bar, c, x):
    powers = a_bar[:, None] ** torch.arange(x.shape[1])
    return ((c * b_bar)[:, None] * powers * (x[:, None] / powers).cumsum(-1)).sum(1)


MUTANTS = [
    backwards,
    fades_twice,
    input_fades_too,
    the_last_one_for_all,
    first_state_alone,
    mean_of_decays,
    divides_by_the_powers,
]
