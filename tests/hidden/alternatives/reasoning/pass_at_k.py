"""Right answers to `pass_at_k` that look nothing like the reference."""

from __future__ import annotations

import math


def try_by_try(n, c, k):
    if c < 0 or c > n or k < 1 or k > n:
        raise ValueError(f"no such numbers: {n}, {c}, {k}")
    missed = 1.0
    for i in range(k):
        missed *= max(0, n - c - i) / (n - i)
    return 1 - missed


def by_logarithms(n, c, k):
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError("no such numbers")
    if n - c < k:
        return 1.0
    factorial = math.lgamma
    return -math.expm1(factorial(n - c + 1) - factorial(n - c - k + 1) - factorial(n + 1) + factorial(n - k + 1))


ALTERNATIVES = [try_by_try, by_logarithms]
