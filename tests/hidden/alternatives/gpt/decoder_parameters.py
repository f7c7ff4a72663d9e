"""Right answers to `decoder_parameters` that look nothing like the reference."""

from __future__ import annotations

from math import prod


def by_shapes(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0):
    matrices = [(heads * d_head, D), (groups * d_head, D), (groups * d_head, D), (D, heads * d_head)]
    matrices += [(F, D)] * (1 + gated) + [(D, F)]
    norm = [(D,)] + [(D,)] * bias
    layer = matrices + [(out,) for out, _ in matrices] * bias + 2 * norm
    tables = [(V, D)] * (2 - tied) + [(positions, D)]
    return sum(map(prod, tables + layers * layer + norm))


def in_one_formula(V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0):
    weights = 2 * D * d_head * (heads + groups) + D * F * (3 if gated else 2) + 2 * D
    shifts = d_head * (heads + 2 * groups) + D + F * (2 if gated else 1) + D + 2 * D if bias else 0
    return (V if tied else 2 * V) * D + positions * D + layers * (weights + shifts) + D + (D if bias else 0)


ALTERNATIVES = [by_shapes, in_one_formula]
