"""Wrong answers to `merge_blocks`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def factors(first, second):
    """The new maximum, and by what each block shrinks."""
    m = torch.maximum(first[0], second[0])
    return m, (first[0] - m).exp(), (second[0] - m).exp()


def no_axis_for_the_width(first, second):
    m, a, b = factors(first, second)
    return m, a * first[1] + b * second[1], a * first[2] + b * second[2]


def mean_and_log_sum(first, second):
    m, a, b = factors(first, second)
    total = a * first[1] + b * second[1]
    return (a[..., None] * first[2] + b[..., None] * second[2]) / total[..., None], m + total.log()


def one_maximum_for_two_rows(first, second):
    m = max(first[0], second[0])
    a, b = (first[0] - m).exp(), (second[0] - m).exp()
    return m, a * first[1] + b * second[1], a[..., None] * first[2] + b[..., None] * second[2]


def measured_against_nought(first, second):
    m, a, b = torch.maximum(first[0], second[0]), first[0].exp(), second[0].exp()
    total, out = a * first[1] + b * second[1], a[..., None] * first[2] + b[..., None] * second[2]
    return m, total / m.exp(), out / m.exp()[..., None]


FIRST_ATTEMPTS = {
    no_axis_for_the_width: "must match the size of tensor b",
    mean_and_log_sum: "expected 3 results, got 2",
    one_maximum_for_two_rows: "Boolean value of Tensor with more than one value is ambiguous",
    measured_against_nought: "nothing in the first: in result 2 of 3, 3 of 3 values are NaN",
}

# -- others ------------------------------------------------------------------------------------------------------------


def nan_made_nought(first, second):
    """Right but for its gradient, which is NaN for two blocks that hold nothing."""
    m, a, b = factors(first, second)
    a, b = a.nan_to_num(0.0), b.nan_to_num(0.0)
    return m, a * first[1] + b * second[1], a[..., None] * first[2] + b[..., None] * second[2]


MUTANTS = [nan_made_nought]
