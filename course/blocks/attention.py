"""Multi-head attention with the interface of topic 07, on torch's own function, with room for positional encodings."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    """Multi-head attention: `attend(x_q, x_kv, mask=None)` -> output (B, T, D) and weights (B, h, T, S).

    W_q, W_k, W_v and W_o are linear layers of width D. The heads share it in equal parts, one after another.

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share a width of {d_model} equally")
        self.n_heads = n_heads
        projections = [nn.Linear(d_model, d_model, bias=bias) for _ in range(4)]
        self.W_q, self.W_k, self.W_v, self.W_o = projections

    def forward(
        self,
        x_q: Tensor,
        x_kv: Tensor,
        mask: Tensor | None = None,
        *,
        rotate: Callable[[Tensor], Tensor] | None = None,
        score_bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attend with queries from x_q (B, T, D) and keys and values from x_kv (B, S, D).

        Args:
            x_q: the words that queries are made of.
            x_kv: the words that keys and values are made of.
            mask: boolean, broadcastable to (B, h, T, S), True where attention is allowed. A row with nothing allowed
                gives zeros.
            rotate: a function on (B, h, T, D/h), applied to queries and keys and not to values.
            score_bias: added to the scores before softmax, broadcastable to (B, h, T, S). -inf forbids.
        """
        q, k, v = (self._heads(W(x)) for W, x in ((self.W_q, x_q), (self.W_k, x_kv), (self.W_v, x_kv)))
        if rotate is not None:
            q, k = rotate(q), rotate(k)
        weights = attention_weights(q, k, mask, score_bias)
        together = (weights @ v).movedim(1, 2).flatten(2)  # (B, h, T, D/h) -> (B, T, D)
        mixed: Tensor = self.W_o(together)
        return mixed, weights

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).movedim(2, 1)  # (B, T, D) -> (B, h, T, D/h)


def attention_weights(q: Tensor, k: Tensor, mask: Tensor | None, score_bias: Tensor | None) -> Tensor:
    """Return attention weights (B, h, T, S), by torch's attention over one-hot values for the keys' positions."""
    places = torch.eye(k.shape[-2], dtype=k.dtype, device=k.device).expand(*k.shape[:-1], -1)  # (B, h, S, S)
    bias = None if score_bias is None else score_bias.to(q)
    if mask is None:
        return F.scaled_dot_product_attention(q, k, places, attn_mask=bias)
    nobody = ~mask.any(-1, keepdim=True)  # rows with nothing allowed, where softmax is NaN
    allowed = mask | nobody
    if bias is not None:
        allowed = torch.where(allowed, bias, -math.inf)
    return F.scaled_dot_product_attention(q, k, places, attn_mask=allowed).masked_fill(nobody, 0.0)
