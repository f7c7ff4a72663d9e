"""Right answers to `linear_attention_step` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def with_a_small_number(state, q, k, v):
    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    S = state[0] + torch.einsum("bd,be->bde", phi(k), v)
    z = state[1] + phi(k)
    return (phi(q)[:, :, None] * S).sum(1) / ((phi(q) * z).sum(1)[:, None] + 1e-6), (S, z)


def a_copy_that_is_added_to(state, q, k, v):
    S, z = (each.clone() for each in state)
    q, k = 1 + F.elu(q), 1 + F.elu(k)
    S += k[..., None] * v[:, None, :]
    z += k
    out = torch.stack([q[b] @ S[b] / (q[b] @ z[b]) for b in range(len(q))])
    return out, (S, z)


ALTERNATIVES = [with_a_small_number, a_copy_that_is_added_to]
