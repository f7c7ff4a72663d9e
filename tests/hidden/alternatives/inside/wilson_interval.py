"""Right answers to `wilson_interval` that look nothing like the reference."""

from __future__ import annotations

import math


def from_the_quadratic(right, n, z=1.96):
    """The shares q at which (p - q)² = z² q (1 - q) / n."""
    if n <= 0 or right < 0 or right > n:
        raise ValueError("impossible counts")
    p = right / n
    a, b, c = 1 + z**2 / n, -(2 * p + z**2 / n), p * p
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def in_counts(right, n, z=1.96):
    if n < 1 or right not in range(n + 1):
        raise ValueError("impossible counts")
    wrong, total = n - right, n + z * z
    half = z / total * (right * wrong / n + z * z / 4) ** 0.5
    centre = (right + z * z / 2) / total
    return centre - half, centre + half


ALTERNATIVES = [from_the_quadratic, in_counts]
