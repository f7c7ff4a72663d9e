"""Right answers to `QLoRALinear` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn

from course.reference.bert import dequantise, nf4_levels, quantise

NF4 = nf4_levels()


class InWeightSpace(nn.Module):
    """A layer that adds up base and update into one weight at each call."""

    def __init__(self, base, r, alpha, block=64):
        super().__init__()
        codes, scales = quantise(base.weight.data, NF4, block)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        self.register_buffer("bias", None if base.bias is None else base.bias.data.clone())
        self.r, self.alpha, self.out_features = r, alpha, base.out_features
        self.A = nn.Parameter(torch.randn(r, base.in_features, dtype=scales.dtype) / r)
        self.B = nn.Parameter(torch.zeros(base.out_features, r, dtype=scales.dtype))

    def forward(self, x):
        W = dequantise(self.codes, self.scales, NF4, (self.out_features, self.A.shape[1]))
        y = x @ (W + self.alpha / self.r * self.B @ self.A).T
        return y if self.bias is None else y + self.bias


class WithoutKeepingTheWeights(nn.Module):
    """An autograd function that unpacks the weights again on the way back."""

    def __init__(self, base, r, alpha, block=64):
        super().__init__()
        codes, scales = quantise(base.weight.detach(), NF4, block)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        self.bias = None
        if base.bias is not None:
            del self.bias
            self.register_buffer("bias", base.bias.detach().clone())
        self.shape, self.s = tuple(base.weight.shape), alpha / r
        self.A = nn.Parameter(torch.nn.init.normal_(base.weight.new_empty(r, self.shape[1]), std=0.02))
        self.B = nn.Parameter(torch.zeros_like(base.weight[:, :1]).repeat(1, r))

    def forward(self, x):
        y = _Product.apply(x, self.codes, self.scales, self.shape)
        y = y + ((x @ self.A.mT) @ self.B.mT) * self.s
        return y if self.bias is None else y + self.bias


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, codes, scales, shape):
        ctx.packed = codes, scales, shape
        return x @ dequantise(codes, scales, NF4, shape).T

    @staticmethod
    def backward(ctx, grad):
        codes, scales, shape = ctx.packed
        return grad @ dequantise(codes, scales, NF4, shape), None, None, None


ALTERNATIVES = [InWeightSpace, WithoutKeepingTheWeights]
