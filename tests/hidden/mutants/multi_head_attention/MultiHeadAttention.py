"""Wrong answers to `MultiHeadAttention` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.reference.multi_head_attention import MultiHeadAttention, attend_in_heads


class DropsInTraining(MultiHeadAttention):
    """A tenth of what comes out, as in the Transformer's own layers; nobody asked this one."""

    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return F.dropout(out, 0.1, self.training), weights


class DropsQueriesInTraining(MultiHeadAttention):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.drop = nn.Dropout(0.1)

    def forward(self, x_q, x_kv, mask=None):
        return super().forward(self.drop(x_q), x_kv, mask)


class KeepsTheStateItself(MultiHeadAttention):
    """Loads tensors where parameters were: nothing learns any more."""

    def load_torch(self, state):
        for letter, weight in zip("qkv", state["in_proj_weight"].chunk(3), strict=True):
            layer = getattr(self, f"W_{letter}")
            del layer.weight
            layer.weight = weight
        del self.W_o.weight
        self.W_o.weight = state["out_proj.weight"]
        for letter, bias in zip("qkv", state.get("in_proj_bias", torch.zeros(0)).chunk(3), strict=False):
            getattr(self, f"W_{letter}").bias.data.copy_(bias) if len(bias) else None
        if "out_proj.bias" in state:
            self.W_o.bias.data.copy_(state["out_proj.bias"])


class NeedsBiases(MultiHeadAttention):
    """load_torch fails on a state without biases."""

    def load_torch(self, state):
        state["in_proj_bias"]
        return super().load_torch(state)


class OneLayerForKeysAndValues(MultiHeadAttention):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads, bias)
        self.W_v = self.W_k


class NoGradientForItsWords(MultiHeadAttention):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv.detach(), mask)


class LooksOneHeadAtATime(MultiHeadAttention):
    """An extra axis in the mask, as for a mask (B, T, S)."""

    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv, None if mask is None else mask[:, None])


class LeavesOutW_o(MultiHeadAttention):
    def forward(self, x_q, x_kv, mask=None):
        return attend_in_heads(self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv), self.n_heads, mask)


class OutputAlone(MultiHeadAttention):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv, mask)[0]


class OtherNames(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, bias)

    def forward(self, x_q, x_kv, mask=None):
        return self.attention(x_q, x_kv, mask)

    def load_torch(self, state):
        self.attention.load_torch(state)


MUTANTS = [
    DropsInTraining,
    DropsQueriesInTraining,
    KeepsTheStateItself,
    NeedsBiases,
    OneLayerForKeysAndValues,
    NoGradientForItsWords,
    LooksOneHeadAtATime,
    LeavesOutW_o,
    OutputAlone,
    OtherNames,
]
