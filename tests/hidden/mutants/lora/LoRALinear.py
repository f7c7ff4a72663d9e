"""Wrong answers to `LoRALinear` that no misconception knows by name."""

from __future__ import annotations

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


class o_noscale(Lo):
    def sc(self):
        return 1.0


class o_alpha(Lo):
    def sc(self):
        return self.alpha


class o_sqrt(Lo):
    def sc(self):
        return self.alpha / self.r**0.5


class o_inv(Lo):
    def sc(self):
        return self.r / self.alpha


class o_zero_both(Lo):
    def make(self):
        super().make()
        self.A.data.zero_()


class o_rand_both(Lo):
    def make(self):
        super().make()
        self.B.data.normal_(0, 0.3)


class o_notfrozen(Lo):
    def freeze(self):
        pass


class o_bias_trainable(Lo):
    def freeze(self):
        self.base.weight.requires_grad_(False)


class o_freeze_all(Lo):
    def freeze(self):
        for p in self.parameters():
            p.requires_grad_(False)


class o_nograd(Lo):
    def path(self, x):
        with torch.no_grad():
            return super().path(x)


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


class o_replace(Lo):
    def forward(self, x):
        return self.path(x) + (self.base.bias if self.base.bias is not None else 0)


class o_nonlin(Lo):
    def path(self, x):
        return self.sc() * ((x @ self.A.T).relu() @ self.B.T)


class o_plain_tensors(Lo):
    def make(self):
        o, i = self.base.weight.shape
        self.A, self.B = torch.randn(self.r, i).to(self.base.weight) * 0.3, torch.zeros(o, self.r).to(self.base.weight)


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


class RankOfItsOwn(Lo):
    def __init__(self, base, r, alpha):
        super().__init__(base, min(r, *base.weight.shape), alpha)


MUTANTS = [
    o_noscale,
    o_alpha,
    o_sqrt,
    o_inv,
    o_zero_both,
    o_rand_both,
    o_notfrozen,
    o_bias_trainable,
    o_freeze_all,
    o_nograd,
    o_data_weight,
    o_init_weight,
    o_BT,
    o_replace,
    o_nonlin,
    o_plain_tensors,
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
    RankOfItsOwn,
]
