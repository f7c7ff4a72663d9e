r"""Multi-head attention: several attentions side by side, each in its own share of the width, then mixed once.

One softmax gives one distribution over the words, so a query that looks for two things gets them blended. Heads look
for different things at once, each with narrow queries, keys and values of its own, and W_o mixes what they find.

    Q = x_q W_qᵀ        K = x_kv W_kᵀ        V = x_kv W_vᵀ        each cut into h shares of d = D / h columns
    head_i = softmax(Q_i K_iᵀ / sqrt(d)) V_i
    out = [head_1; ...; head_h] W_oᵀ

Glossary: B batch, T queries, S keys and values, D model width, h heads, d = D / h the width of one head. Head i owns
the columns i·d to (i + 1)·d - 1. Masks are boolean, broadcastable to (B, h, T, S), True where attention is allowed.

Source: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width of every word into equal shares: (B, T, D) -> (B, h, T, D/h). Head i gets the i-th share.

    Raises:
        ValueError: the heads do not divide the width.
    """
    _check_heads(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, T, D) -> (B, T, h, D/h) -> (B, h, T, D/h)


def merge_heads(x: Tensor) -> Tensor:
    """Undo `split_heads` and put the shares of each word side by side again: (B, h, T, D/h) -> (B, T, D)."""
    return x.transpose(1, 2).flatten(2)  # (B, h, T, D/h) -> (B, T, h, D/h) -> (B, T, D)


def attend_in_heads(q: Tensor, k: Tensor, v: Tensor, n_heads: int, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Every head's attention over projected words: q (B, T, D), k and v (B, S, D) -> (B, T, D), weights (B, h, T, S).

    The head axis is one more batch axis. A query that may look at no key gets weights of zero.
    """
    q, k, v = (split_heads(words, n_heads) for words in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, h, T, d) @ (B, h, d, S) -> (B, h, T, S)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        # The lowest finite number, not -inf: a row of nothing but -inf would be NaN. What is forbidden ends at zero.
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0)
    return merge_heads(weights @ v), weights


def without_unseen(x_kv: Tensor, T: int, n_heads: int, mask: Tensor | None) -> Tensor:
    """Return x_kv (B, S, D) with 0 for NaN and ±inf in words that no query may look at, because 0 times NaN is NaN.

    Finite numbers stay, so that an answer that cuts heads wrongly finds the same numbers in them.
    """
    if mask is None:
        return x_kv
    B, S, _ = x_kv.shape
    seen = mask.expand(B, n_heads, T, S).flatten(1, 2).any(1)  # (B, h, T, S) -> (B, S)
    return x_kv.masked_fill(~seen[..., None] & ~x_kv.isfinite(), 0.0)


def multi_head_attention(
    x_q: Tensor,
    x_kv: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    W_o: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Attention of n_heads heads from x_q (B, T, D) to x_kv (B, S, D): output (B, T, D), weights (B, h, T, S).

    All four matrices are (D, D), stored (out, in). `mask` is boolean, broadcastable to (B, h, T, S), True where a query
    may look. A row with nothing allowed gives zeros. A word that no query may look at may be NaN.

    Raises:
        ValueError: the heads do not divide the width.
    """
    x_kv = without_unseen(x_kv, x_q.shape[1], n_heads, mask)
    together, weights = attend_in_heads(x_q @ W_q.T, x_kv @ W_k.T, x_kv @ W_v.T, n_heads, mask)
    return together @ W_o.T, weights


class MultiHeadAttention(nn.Module):
    """The same as a layer, with four `nn.Linear` of width D: `W_q`, `W_k`, `W_v`, `W_o`.

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        _check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))

    def forward(self, x_q: Tensor, x_kv: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """x_q (B, T, D), x_kv (B, S, D), mask as in `multi_head_attention` -> (B, T, D), weights (B, h, T, S)."""
        x_kv = without_unseen(x_kv, x_q.shape[1], self.n_heads, mask)
        together, weights = attend_in_heads(self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv), self.n_heads, mask)
        return self.W_o(together), weights

    @torch.no_grad()
    def load_torch(self, state: Mapping[str, Tensor]) -> MultiHeadAttention:
        """Copy the weights of an `nn.MultiheadAttention` of the same sizes from its `state_dict()`. Return self.

        `in_proj_weight` (3D, D) and `in_proj_bias` (3D,) hold queries, keys and values in this order. Without biases,
        both bias entries are missing.
        """
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in state:
                shares = state[f"in_proj_{kind}"].chunk(3)  # three of (D, D), or of (D,)
                for layer, share in zip((self.W_q, self.W_k, self.W_v), shares, strict=True):
                    getattr(layer, kind).copy_(share)
                getattr(self.W_o, kind).copy_(state[f"out_proj.{kind}"])
        return self


def multi_head_parameters(d_model: int, n_heads: int, bias: bool) -> int:
    """Number of parameters of such a layer. The heads share the width, so their number does not matter.

    Raises:
        ValueError: the heads do not divide the width.
    """
    _check_heads(d_model, n_heads)
    return 4 * d_model * d_model + 4 * d_model * bias


def relations_by_hand(names: Tensor, numbers: Tensor, friends: Tensor, rivals: Tensor) -> Tensor:
    """Both questions about every child, by two heads whose weights are chosen: all (B, S) -> (B, S, 2, 10).

    A position holds its child's name, number, friend's name and rival's name, each one-hot. The first head matches
    friends with names, the second rivals with names. Both bring numbers, each into its own share of the width.
    """
    n_names, n_numbers, certain = 26, 10, 50.0  # a match scores so much more that softmax is a choice
    written = [
        one_hot(names, n_names),
        one_hot(numbers, n_numbers),
        one_hot(friends, n_names),
        one_hot(rivals, n_names),
    ]
    x = torch.cat(written, dim=-1).to(torch.get_default_dtype())  # (B, S, D)
    D = x.shape[-1]
    d = D // 2
    name, number, friend, rival = torch.eye(D, device=x.device).split([n_names, n_numbers, n_names, n_names])

    def in_two_heads(first: Tensor, second: Tensor) -> Tensor:
        """What each head reads, one below the other, each padded with zeros to d rows: (D, D)."""
        return torch.cat([torch.cat([rows, rows.new_zeros(d - len(rows), D)]) for rows in (first, second)])

    asks = certain * math.sqrt(d) * in_two_heads(friend, rival)
    found, _ = multi_head_attention(
        x, x, asks, in_two_heads(name, name), in_two_heads(number, number), torch.eye(D, device=x.device), n_heads=2
    )
    return found.unflatten(-1, (2, d))[..., :n_numbers]  # (B, S, D) -> (B, S, 2, d) -> (B, S, 2, 10)


def _check_heads(d_model: int, n_heads: int) -> None:
    if n_heads < 1 or d_model % n_heads:
        raise ValueError(f"{n_heads} heads cannot share a width of {d_model} equally")
