"""Wrong answers to `LoRALinear` that no misconception knows by name."""

from __future__ import annotations

import copy

from torch import nn
from torch.nn import functional as F

from course.reference.lora import LoRALinear


class UpdateTransposedWhereSquare(LoRALinear):
    def forward(self, x):
        if self.B.shape[0] != self.A.shape[1]:
            return super().forward(x)
        return self.base(x) + self.alpha / self.r * (x @ (self.B @ self.A))


class EyeForA(LoRALinear):
    """A layer whose A is the identity in place of random numbers."""

    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        nn.init.eye_(self.A)


class AlwaysFloat32(LoRALinear):
    def __init__(self, base, r, alpha):
        super().__init__(base, r, alpha)
        self.A, self.B = nn.Parameter(self.A.data.float()), nn.Parameter(self.B.data.float())

    def forward(self, x):
        return self.base(x) + (self.alpha / self.r * (x.float() @ self.A.T @ self.B.T)).to(x.dtype)


class DropsATenthInTraining(LoRALinear):
    def forward(self, x):
        return self.base(x) + super().forward(F.dropout(x, 0.1, self.training)) - self.base(x)


class StraightThroughBase(LoRALinear):
    """A layer whose base passes no gradient on to x."""

    def forward(self, x):
        return super().forward(x) - self.base(x) + self.base(x.detach())


class CopyOfTheBase(LoRALinear):
    def __init__(self, base, r, alpha):
        super().__init__(copy.deepcopy(base), r, alpha)
        base.requires_grad_(False)


class RankOfItsOwn(LoRALinear):
    def __init__(self, base, r, alpha):
        super().__init__(base, min(r, *base.weight.shape), alpha)


MUTANTS = [
    UpdateTransposedWhereSquare,
    EyeForA,
    AlwaysFloat32,
    DropsATenthInTraining,
    StraightThroughBase,
    CopyOfTheBase,
    RankOfItsOwn,
]
