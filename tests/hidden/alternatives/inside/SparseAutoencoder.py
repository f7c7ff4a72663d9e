"""Right answers to `SparseAutoencoder` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class WithLinear(nn.Module):
    def __init__(self, D, n):
        super().__init__()
        self.W_enc, self.W_dec = nn.Parameter(torch.randn(n, D)), nn.Parameter(torch.randn(D, n))
        self.b_enc, self.b_dec = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(D))

    def forward(self, x):
        f = F.relu(F.linear(x - self.b_dec, self.W_enc, self.b_enc))
        return F.linear(f, self.W_dec, self.b_dec), f

    def loss(self, x, l1):
        x_hat, f = self.forward(x)
        weights = torch.sqrt((self.W_dec**2).sum(0))
        return F.mse_loss(x_hat, x, reduction="sum") / len(x) + l1 * (f * weights).sum() / len(x)


class ByEinsum(WithLinear):
    def forward(self, x):
        shift = self.b_enc - self.W_enc @ self.b_dec
        f = (torch.einsum("...d,nd->...n", x, self.W_enc) + shift).clamp(min=0)
        return torch.einsum("...n,dn->...d", f, self.W_dec) + self.b_dec, f

    def loss(self, x, l1):
        x_hat, f = self(x)
        each = torch.linalg.vector_norm(x - x_hat, dim=-1) ** 2
        return each.mean() + l1 * torch.einsum("bn,n->b", f, torch.linalg.vector_norm(self.W_dec, dim=0)).mean()


ALTERNATIVES = [WithLinear, ByEinsum]
