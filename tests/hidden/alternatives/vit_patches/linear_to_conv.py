"""Right answers to `linear_to_conv` that look nothing like the reference."""

from __future__ import annotations

import torch
from einops import rearrange


def conv_by_view(W, C, p):
    return W.contiguous().view(-1, C, p, p)


def conv_by_einops(W, C, p):
    return rearrange(W, "d (c y x) -> d c y x", c=C, y=p)


def conv_by_stack(W, C, p):
    return torch.stack([torch.stack([row[c * p * p : (c + 1) * p * p].reshape(p, p) for c in range(C)]) for row in W])


ALTERNATIVES = [conv_by_view, conv_by_einops, conv_by_stack]
