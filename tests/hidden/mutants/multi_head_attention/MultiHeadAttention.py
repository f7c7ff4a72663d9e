"""Wrong answers to `MultiHeadAttention` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference.multi_head_attention import MultiHeadAttention


class DropsInTraining(MultiHeadAttention):
    """A layer with dropout on its output, which the exercise does not ask for."""

    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return F.dropout(out, 0.1, self.training), weights


class KeepsTheStateItself(MultiHeadAttention):
    """A layer that replaces its parameters by plain tensors when it loads, so that nothing learns."""

    def load_torch(self, state):
        super().load_torch(state)
        for layer in (self.W_q, self.W_k, self.W_v, self.W_o):
            weight = layer.weight.detach()
            del layer.weight
            layer.weight = weight


MUTANTS = [DropsInTraining, KeepsTheStateItself]
