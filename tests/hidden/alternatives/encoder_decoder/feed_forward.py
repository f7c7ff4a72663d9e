"""Right answers to `feed_forward` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn


def forward_by_linear(x, W1, b1, W2, b2):
    return nn.functional.linear(nn.functional.linear(x, W1, b1).clamp(min=0), W2, b2)


def forward_by_conv(x, W1, b1, W2, b2):
    """A convolution of width one over the words."""
    words = x.reshape(-1, x.shape[-1], 1)
    inside = torch.conv1d(words, W1[:, :, None], b1).relu()
    return torch.conv1d(inside, W2[:, :, None], b2).reshape(x.shape)


ALTERNATIVES = [forward_by_linear, forward_by_conv]
