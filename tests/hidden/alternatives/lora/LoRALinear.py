"""Right answers to `LoRALinear` that look nothing like the reference."""

from __future__ import annotations

import math

import torch
from torch import nn

from tests.hidden.alternatives.lora.scaffold import ByEinsum, InWeightSpace, WithDropoutLikeThePaper


class ByAFunctionalCall(nn.Module):
    """The base itself is called, with another weight in its place."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha = base.requires_grad_(False), r, alpha
        self.A = nn.Parameter(nn.init.kaiming_uniform_(base.weight.new_empty(r, base.in_features), a=math.sqrt(5)))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))

    def forward(self, x):
        weight = torch.addmm(self.base.weight, self.B, self.A, alpha=self.alpha / self.r)
        return torch.func.functional_call(self.base, {"weight": weight}, (x,))


ALTERNATIVES = [InWeightSpace, ByEinsum, WithDropoutLikeThePaper, ByAFunctionalCall]
