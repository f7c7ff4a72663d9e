"""Right answers to `swiglu` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_linear(x, W_gate, W_up, W_down):
    return F.linear(F.silu(F.linear(x, W_gate)) * F.linear(x, W_up), W_down)


def both_at_once(x, W_gate, W_up, W_down):
    gate, up = (x @ torch.cat([W_gate, W_up]).T).chunk(2, dim=-1)
    return torch.matmul(gate / (1 + torch.exp(-gate)) * up, W_down.mT)


ALTERNATIVES = [by_linear, both_at_once]
