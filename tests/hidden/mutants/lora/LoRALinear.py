"""Wrong answers to `LoRALinear` that no misconception knows by name."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn import functional as F


class Lo(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha = base, r, alpha
        self.make()
        self.freeze()

    def make(self):
        o, i = self.base.weight.shape
        self.A = nn.Parameter(torch.randn(self.r, i).to(self.base.weight) * 0.3)
        self.B = nn.Parameter(torch.zeros(o, self.r).to(self.base.weight))

    def freeze(self):
        for p in self.base.parameters():
            p.requires_grad_(False)

    def sc(self):
        return self.alpha / self.r

    def delta(self):
        return self.sc() * (self.B @ self.A)

    def forward(self, x):
        return self.base(x) + self.path(x)

    def path(self, x):
        return self.sc() * (x @ self.A.T @ self.B.T)


class o_data_weight(Lo):
    def forward(self, x):
        return F.linear(x, (self.base.weight + self.delta()).data, self.base.bias)


class o_init_weight(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.Wc = nn.Parameter((base.weight + self.delta()).detach())

    def forward(self, x):
        return F.linear(x, self.Wc, self.base.bias)


class o_BT(Lo):
    def path(self, x):
        return self.sc() * (x @ (self.B @ self.A)) if self.B.shape[0] == self.A.shape[1] else super().path(x)


class EyeForA(Lo):
    """Different rows, and the same for every layer: nothing is drawn."""

    def make(self):
        super().make()
        nn.init.eye_(self.A)


class ConstantA(Lo):
    def make(self):
        super().make()
        self.A.data.fill_(0.1)


class AlwaysFloat32(Lo):
    def make(self):
        super().make()
        self.A, self.B = nn.Parameter(self.A.data.float()), nn.Parameter(self.B.data.float())

    def path(self, x):
        return super().path(x.float()).to(x.dtype)


class DropsATenth(Lo):
    """In evaluation, too."""

    def path(self, x):
        return super().path(F.dropout(x, 0.1))


class DropsATenthInTraining(Lo):
    def path(self, x):
        return super().path(F.dropout(x, 0.1, self.training))


class WholeStrength(Lo):
    def sc(self):
        return self.alpha // self.r


class OneRankShort(Lo):
    def path(self, x):
        return self.sc() * (x @ self.A[:-1].T @ self.B[:, :-1].T)


class MergesWhenBuilt(Lo):
    """The update goes into the base at every call."""

    def forward(self, x):
        with torch.no_grad():
            self.base.weight += self.delta()
        return self.base(x)


class OwnBias(Lo):
    """A second bias that learns."""

    def make(self):
        super().make()
        self.bias = nn.Parameter(torch.zeros(self.base.out_features).to(self.base.weight))

    def path(self, x):
        return super().path(x) + self.bias


class SignOfTheUpdate(Lo):
    def sc(self):
        return -self.alpha / self.r


class StraightThroughBase(Lo):
    """The gradient of x comes back through the update alone."""

    def forward(self, x):
        return self.base(x.detach()) + self.path(x)


class WithoutTheBasesBias(Lo):
    def forward(self, x):
        return F.linear(x, self.base.weight) + self.path(x)


class CopyOfTheBase(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(copy.deepcopy(base), r, alpha)
        base.requires_grad_(False)


class RankOfItsOwn(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(base, min(r, *base.weight.shape), alpha)


MUTANTS = [
    o_data_weight,
    o_init_weight,
    o_BT,
    ConstantA,
    EyeForA,
    AlwaysFloat32,
    DropsATenth,
    DropsATenthInTraining,
    WholeStrength,
    OneRankShort,
    MergesWhenBuilt,
    OwnBias,
    SignOfTheUpdate,
    StraightThroughBase,
    WithoutTheBasesBias,
    CopyOfTheBase,
    RankOfItsOwn,
]
