"""Right answers to `alibi_bias` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch


def alibi_by_loops(n_heads, T):
    bias = torch.full((n_heads, T, T), float("-inf"))
    for head in range(n_heads):
        for q in range(T):
            for k in range(q + 1):
                bias[head, q, k] = (k - q) * 2 ** (-8 * (head + 1) / n_heads)
    return bias


def alibi_in_numpy(n_heads, T):
    slopes = np.exp2(-8 * np.arange(1, n_heads + 1) / n_heads)
    distance = np.subtract.outer(np.arange(T), np.arange(T)).astype(float)
    bias = -np.multiply.outer(slopes, distance)
    bias[:, distance < 0] = -np.inf
    return torch.from_numpy(bias)


ALTERNATIVES = [alibi_by_loops, alibi_in_numpy]
