"""Right answers to `nearest` that look nothing like the reference."""

from __future__ import annotations

import heapq
import operator

import torch
from torch.nn import functional as F


def by_angle(E, index, k):
    unit = F.normalize(E, dim=1)
    angles = (unit @ unit[index]).clamp(-1, 1).acos()
    return angles.index_fill(0, torch.tensor([index]), 4.0).argsort()[:k]


def others_first(E, index, k):
    others = torch.tensor([i for i in range(len(E)) if i != index])
    dots = E[others] @ E[index] / E[others].norm(dim=1)
    return others[dots.argsort(descending=True)[:k]]


def by_python_floats(E, index, k):
    """In single precision, whatever E is."""
    rows = F.normalize(E.float()).tolist()
    cosines = [sum(map(operator.mul, row, rows[index])) for row in rows]
    others = (i for i in range(len(rows)) if i != index)
    return torch.tensor(heapq.nlargest(k, others, key=cosines.__getitem__))


ALTERNATIVES = [by_angle, others_first, by_python_floats]
