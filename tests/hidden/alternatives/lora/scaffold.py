"""What several of this topic's answers are made of."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


class InWeightSpace(nn.Module):
    """Adds the update to the weight at every call."""

    def __init__(self, base, r, alpha):
        super().__init__()
        for parameter in base.parameters():
            parameter.requires_grad = False
        self.base, self.r, self.alpha = base, r, alpha
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.randn(r, base.in_features, **like) / math.sqrt(base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))

    def forward(self, x):
        return F.linear(x, self.base.weight + self.alpha / self.r * (self.B @ self.A), self.base.bias)


class ByEinsum(nn.Module):
    """Registers its factors by hand, and names the axes."""

    def __init__(self, base, r, alpha):
        super().__init__()
        out_features, in_features = base.weight.shape
        self.add_module("base", base)
        base.weight.requires_grad_(False)
        if base.bias is not None:
            base.bias.requires_grad_(False)
        noise = torch.empty(r, in_features).normal_(std=0.02).to(base.weight)
        self.register_parameter("A", nn.Parameter(noise))
        self.register_parameter("B", nn.Parameter(base.weight.new_zeros((out_features, r))))
        self.r, self.alpha = r, alpha

    def forward(self, x):
        return self.base(x) + torch.einsum("...i,ri,or->...o", x * (self.alpha / self.r), self.A, self.B)


class WithDropoutLikeThePaper(nn.Module):
    """A dropout of zero before A, and a buffer for the scale: neither is anything to learn."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.r, self.alpha = r, alpha
        self.dropout = nn.Dropout(0.0)
        self.register_buffer("scale", torch.tensor(alpha / r, dtype=base.weight.dtype))
        self.A = nn.Parameter(torch.empty_like(base.weight[:1].expand(r, -1)).uniform_(-1, 1))
        self.B = nn.Parameter(torch.zeros_like(base.weight[:, :1]).repeat(1, r))

    def forward(self, x):
        down = F.linear(self.dropout(x), self.A)
        return self.base(x) + F.linear(down, self.B) * self.scale


def merge_into_a_fresh_layer(layer):
    base = layer.base
    merged = nn.Linear(base.in_features, base.out_features, base.bias is not None).to(base.weight)
    merged.weight.data = base.weight.data + layer.alpha * (layer.B.data @ layer.A.data) / layer.r
    if base.bias is not None:
        merged.bias.data = base.bias.data.clone()
    return merged
