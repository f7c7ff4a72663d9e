"""Wrong answers to `SparseAutoencoder`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference import inside as reference


class _Parts(reference.SparseAutoencoder):
    """Has the two parts of the loss for each vector, (B,)."""

    def parts(self, x):
        x_hat, f = self(x)
        return (x - x_hat).square().sum(-1), f @ self.W_dec.norm(dim=0)


class OneResult(reference.SparseAutoencoder):
    def forward(self, x):
        return super().forward(x)[0]


class ALossForEachVector(_Parts):
    def loss(self, x, l1):
        error, weight = self.parts(x)
        return error + l1 * weight


FIRST_ATTEMPTS = {
    OneResult: "expected a tuple, got a tensor of shape (3, 5)",
    ALossForEachVector: "expected the shape (), got (11,)",
}


class SummedOverTheBatch(_Parts):
    def loss(self, x, l1):
        error, weight = self.parts(x)
        return (error + l1 * weight).sum()


class DistanceNotSquared(_Parts):
    def loss(self, x, l1):
        error, weight = self.parts(x)
        return (error.sqrt() + l1 * weight).mean()


class LengthsOfRows(_Parts):
    def loss(self, x, l1):
        error, _ = self.parts(x)
        return (error + l1 * self(x)[1].sum(-1) * self.W_dec.norm(dim=1).sum()).mean()


MUTANTS = [SummedOverTheBatch, DistanceNotSquared, LengthsOfRows]
