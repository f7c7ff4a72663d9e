"""The encoder layer of topic 10, on this package's attention and torch's own layers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention

NORMS = ("post", "pre")


class EncoderLayer(nn.Module):
    """An encoder layer, `layer(x, mask=None)`: (B, T, D) -> (B, T, D), self-attention and then feed-forward.

    Its parts are `self_attention`, `up` and `down`, `norm1` and `norm2`, and `dropout`. After a call, `layer.weights`
    holds the attention weights of that call, (B, h, T, T), without gradient, and None before the first one.

    Args:
        d_model: width D of what comes in and goes out.
        n_heads: number of heads h, a divisor of D.
        d_ff: width between `up` and `down`.
        dropout: share of each sublayer's output that is dropped in training.
        norm: "post", as in the paper of 2017, or "pre", as in GPT-2 and in ViT.

    Raises:
        ValueError: another `norm`, or heads that do not divide the width.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1, norm: str = "post") -> None:
        super().__init__()
        if norm not in NORMS:
            raise ValueError(f"norm is 'post' or 'pre', not {norm!r}")
        self.self_attention = MultiHeadAttention(d_model, n_heads=n_heads)
        self.up = nn.Linear(d_model, d_ff)
        self.down = nn.Linear(d_ff, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(p=dropout)
        self.norm = norm
        self.weights: Tensor | None = None

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Encode x (B, T, D). The mask is boolean, broadcastable to (B, h, T, T), True where attention is allowed."""

        def look(words: Tensor) -> Tensor:
            seen, weights = self.self_attention(words, words, mask)
            self.weights = weights.detach()
            return seen

        steps = ((self.norm1, look), (self.norm2, nn.Sequential(self.up, nn.ReLU(), self.down)))
        for level, work in steps:
            x = self._step(x, level, work)
        return x

    def _step(self, x: Tensor, level: nn.Module, work: Callable[[Tensor], Tensor]) -> Tensor:
        early, late = (level, nn.Identity()) if self.norm == "pre" else (nn.Identity(), level)
        return late(torch.add(x, self.dropout(work(early(x)))))
