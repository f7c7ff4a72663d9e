"""Wrong answers to `selective_scan` that no misconception knows by name."""

from __future__ import annotations

from course.reference import linear_time as reference


def no_gradient_to_the_steps(x, delta, A, B, C):
    return reference.selective_scan(x, delta.detach(), A, B, C)


def steps_of_a_ten_thousandth_at_least(x, delta, A, B, C):
    return reference.selective_scan(x, delta.clamp(min=1e-4), A, B, C)


MUTANTS = [no_gradient_to_the_steps, steps_of_a_ten_thousandth_at_least]
