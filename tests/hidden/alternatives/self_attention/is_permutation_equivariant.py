"""Right answers to `is_permutation_equivariant` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch


def order_by_largest_difference(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().max() < 1e-4)


def order_undone(fn, x, permutation):
    back = torch.argsort(permutation)
    return torch.allclose(fn(x[:, permutation])[:, back], fn(x), atol=1e-4)


def order_as_numpy(fn, x, permutation):
    with torch.no_grad():
        one, other = fn(x[:, permutation]).numpy(), fn(x).numpy()[:, permutation.numpy()]
    return np.allclose(one, other, atol=1e-4)


ALTERNATIVES = [
    order_by_largest_difference,
    order_undone,
    order_as_numpy,
]
