"""What several of this topic's answers are made of."""

from __future__ import annotations

import torch
from torch import nn

from course import blocks


def add_parts(self, d_model, n_heads, d_ff, dropout, norm, norms):
    self.self_attention = blocks.MultiHeadAttention(d_model, n_heads)
    self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    for name in norms:
        setattr(self, name, nn.LayerNorm(d_model))
    self.dropout, self.norm = nn.Dropout(dropout), norm


class BothBranches(nn.Module):
    """Each norm written out, line by line."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        add_parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

    def forward(self, x, mask=None):
        if self.norm == "post":
            attended, _ = self.self_attention(x, x, mask)
            x = self.norm1(x + self.dropout(attended))
            return self.norm2(x + self.dropout(self.down(torch.relu(self.up(x)))))
        y = self.norm1(x)
        x = x + self.dropout(self.self_attention(y, y, mask)[0])
        return x + self.dropout(self.down(torch.relu(self.up(self.norm2(x)))))


class WithIdentities(nn.Module):
    """One line for both kinds: a norm before and a norm behind, one of which does nothing."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        add_parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

    def forward(self, x, mask=None):
        def nothing(y):
            return y

        for norm, work in ((self.norm1, self.attend(mask)), (self.norm2, self.think)):
            before, behind = (norm, nothing) if self.norm == "pre" else (nothing, norm)
            x = behind(self.dropout(work(before(x))) + x)
        return x

    def attend(self, mask):
        return lambda y: self.self_attention(y, y, mask)[0]

    def think(self, y):
        return self.down(nn.functional.relu(self.up(y)))


class DecoderBothBranches(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        add_parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2", "norm3"))
        self.cross_attention = blocks.MultiHeadAttention(d_model, n_heads)

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if self.norm == "post":
            x = self.norm1(x + self.dropout(self.self_attention(x, x, tgt_mask)[0]))
            x = self.norm2(x + self.dropout(self.cross_attention(x, memory, src_mask)[0]))
            return self.norm3(x + self.dropout(self.down(torch.relu(self.up(x)))))
        y = self.norm1(x)
        x = x + self.dropout(self.self_attention(y, y, tgt_mask)[0])
        x = x + self.dropout(self.cross_attention(self.norm2(x), memory, src_mask)[0])
        return x + self.dropout(self.down(torch.relu(self.up(self.norm3(x)))))


class DecoderInALoop(nn.Module):
    """Sublayers in a list, as in a pipeline."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        add_parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2", "norm3"))
        self.cross_attention = blocks.MultiHeadAttention(d_model, n_heads)

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        works = [
            lambda y: self.self_attention(y, y, tgt_mask)[0],
            lambda y: self.cross_attention(y, memory, src_mask)[0],
            lambda y: self.down(self.up(y).relu()),
        ]
        for norm, work in zip((self.norm1, self.norm2, self.norm3), works, strict=True):
            x = x + self.dropout(work(norm(x))) if self.norm == "pre" else norm(x + self.dropout(work(x)))
        return x
