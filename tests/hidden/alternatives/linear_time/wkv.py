"""Right answers to `wkv` that look nothing like the reference."""

from __future__ import annotations

import torch


def as_one_matrix(k, v, w, u):
    T = k.shape[1]
    ages = torch.arange(T)[:, None] - torch.arange(T)[None]  # (T, T)
    past = k[:, None] - (ages - 1).clamp(min=0)[..., None] * w
    exponents = torch.where((ages == 0)[..., None], k[:, None] + u, past)
    exponents = exponents.masked_fill((ages < 0)[..., None], -torch.inf)
    return (torch.softmax(exponents, 2) * v[:, None]).sum(2)


def from_a_very_small_weight(k, v, w, u):
    """As the released code does it: the running maximum begins at -1e38."""
    top = torch.zeros_like(k[:, 0]) - 1e38
    total = count = torch.zeros_like(top)
    outs = []
    for k_t, v_t in zip(k.unbind(1), v.unbind(1)):
        high = torch.maximum(top, u + k_t)
        e1, e2 = torch.exp(top - high), torch.exp(u + k_t - high)
        outs.append((e1 * total + e2 * v_t) / (e1 * count + e2))
        high = torch.maximum(top - w, k_t)
        e1, e2 = torch.exp(top - w - high), torch.exp(k_t - high)
        total, count, top = e1 * total + e2 * v_t, e1 * count + e2, high
    return torch.stack(outs, 1)


def in_float32(k, v, w, u):
    return from_a_very_small_weight(k.float(), v.float(), w.float(), u.float()).to(v.dtype)


ALTERNATIVES = [as_one_matrix, from_a_very_small_weight, in_float32]
