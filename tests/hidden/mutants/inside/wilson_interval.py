"""Wrong answers to `wilson_interval`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import math

from course.reference.inside import wilson_interval as right_interval


def no_error_for_nothing(right, n, z=1.96):
    p, more = right / n, z * z / n
    half = z * math.sqrt(p * (1 - p) / n + more / (4 * n))
    return (p + more / 2 - half) / (1 + more), (p + more / 2 + half) / (1 + more)


def centre_and_half(right, n, z=1.96):
    low, high = right_interval(right, n, z)
    return (low + high) / 2, (high - low) / 2


FIRST_ATTEMPTS = {
    no_error_for_nothing: "your code should raise ValueError",
    centre_and_half: "in result 1 of 2, got 0.644492, which is too large",
}


def half_not_divided(right, n, z=1.96):
    low, high = right_interval(right, n, z)
    centre, half = (low + high) / 2, (high - low) / 2 * (1 + z * z / n)
    return centre - half, centre + half


MUTANTS = [half_not_divided]
