"""Right answers to `merge_blocks` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_the_difference(first, second):
    """One of both factors is 1, and the other is exp of minus the distance."""
    (m1, l1, o1), (m2, l2, o2) = first, second
    gap = torch.where(m1 == m2, torch.zeros_like(m1), m1 - m2)
    a, b = gap.clamp(max=0).exp(), (-gap).clamp(max=0).exp()
    return torch.where(m1 > m2, m1, m2), l1 * a + l2 * b, o1 * a.unsqueeze(-1) + o2 * b.unsqueeze(-1)


def stacked(first, second):
    m, total, out = (torch.stack(pair) for pair in zip(first, second))
    top = m.amax(0)
    factors = torch.where(m.isneginf(), 0.0, (m - torch.where(top.isneginf(), 0.0, top)).clamp(min=-1e30).exp())
    return top, (factors * total).sum(0), (factors[..., None] * out).sum(0)


ALTERNATIVES = [by_the_difference, stacked]
