"""Wrong answers to `MultiHeadAttention` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference.multi_head_attention import MultiHeadAttention


class DropsInTraining(MultiHeadAttention):
    """A tenth of what comes out, as in the Transformer's own layers; nobody asked this one."""

    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return F.dropout(out, 0.1, self.training), weights


class KeepsTheStateItself(MultiHeadAttention):
    """Loads tensors where parameters were: nothing learns any more."""

    def load_torch(self, state):
        super().load_torch(state)
        for layer in (self.W_q, self.W_k, self.W_v, self.W_o):
            weight = layer.weight.detach()
            del layer.weight
            layer.weight = weight


MUTANTS = [DropsInTraining, KeepsTheStateItself]
