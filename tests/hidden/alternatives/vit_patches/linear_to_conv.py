"""Right answers to `linear_to_conv` that look nothing like the reference."""

from __future__ import annotations

import torch


def conv_by_view(W, C, p):
    return W.contiguous().view(-1, C, p, p)


def conv_by_stack(W, C, p):
    return torch.stack([torch.stack([row[c * p * p : (c + 1) * p * p].reshape(p, p) for c in range(C)]) for row in W])


ALTERNATIVES = [conv_by_view, conv_by_stack]
