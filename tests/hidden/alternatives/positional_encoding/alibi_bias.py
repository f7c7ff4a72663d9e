"""Right answers to `alibi_bias` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np
import torch


def alibi_by_loops(n_heads, T):
    bias = torch.full((n_heads, T, T), float("-inf"))
    for head in range(n_heads):
        for q in range(T):
            for k in range(q + 1):
                bias[head, q, k] = (k - q) * 2 ** (-8 * (head + 1) / n_heads)
    return bias


def alibi_by_masks(n_heads, T):
    ratio = 2 ** (-8 / n_heads)
    slopes = torch.tensor([ratio ** (head + 1) for head in range(n_heads)])
    distance = torch.arange(T).view(1, 1, -1) - torch.arange(T).view(1, -1, 1)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return torch.where(future, -math.inf, slopes.view(-1, 1, 1) * distance)


def alibi_in_numpy(n_heads, T):
    slopes = np.exp2(-8 * np.arange(1, n_heads + 1) / n_heads)
    distance = np.subtract.outer(np.arange(T), np.arange(T)).astype(float)
    bias = -np.multiply.outer(slopes, distance)
    bias[:, distance < 0] = -np.inf
    return torch.from_numpy(bias)


ALTERNATIVES = [alibi_by_loops, alibi_by_masks, alibi_in_numpy]
