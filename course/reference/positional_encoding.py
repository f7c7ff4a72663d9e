r"""Positional encodings: a vector for every position, because attention alone cannot tell one order from another.

Pair i of an encoding is the hand of a clock that turns by w_i a step. Sinusoidal encodings add what the hands show to
the words. RoPE rotates queries and keys by these angles, so that a score depends only on how far apart two words are.
ALiBi subtracts the distance from the scores and needs no hands at all.

    w_i = base^(-2i / D),   i = 0 ... D/2 - 1
    p[t, 2i] = sin(t w_i)                  p[t, 2i+1] = cos(t w_i)
    p[t + k] = M_k p[t]                    M_k: blocks ((cos k w_i, sin k w_i), (-sin k w_i, cos k w_i))
    rope(x)[t] = R_t x[t]                  R_t: blocks ((cos t w_i, -sin t w_i), (sin t w_i, cos t w_i))
    alibi[i, q, k] = -2^(-8i / h) (q - k)  for k <= q, heads i = 1 ... h; -inf for k > q

Glossary: B batch, T positions, t one of them from 0 on, D width (even), h heads, n positions of a table, k an offset.

Sources: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.5; J. Su et al., "RoFormer: Enhanced
Transformer with Rotary Position Embedding", 2021, equations 13 to 16 and 34; O. Press, N. Smith, M. Lewis, "Train
Short, Test Long", ICLR 2022, section 3 (ALiBi).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


def sinusoidal(n_positions: int, d_model: int) -> Tensor:
    """The table of the paper, (n, D), with sines in the even columns and cosines of the same angles in the odd ones.

    Raises:
        ValueError: `d_model` is odd, so that a sine would be left without its cosine.
    """
    angles = _angles(torch.arange(n_positions), d_model)  # (n, D/2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n, D/2, 2)
    return pairs.flatten(1).to(torch.get_default_dtype())


def shift_matrix(offset: int, d_model: int) -> Tensor:
    """M_k (D, D) with `sinusoidal(n)[t + k] = M_k @ sinusoidal(n)[t]` for every t. It turns every pair by k w_i.

    Raises:
        ValueError: `d_model` is odd.
    """
    angles = _angles(torch.tensor(offset), d_model)  # (D/2,)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], dim=-2)  # (D/2, 2, 2)
    return torch.block_diag(*blocks).to(torch.get_default_dtype())


class LearnedPositions(nn.Module):
    """Learned positional embeddings for `max_len` positions: x (B, T, D) -> x + positions[:T]."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Add to every sentence of x (B, T, D) the vectors of its positions.

        Raises:
            ValueError: x is longer than the table, so nothing was learned about its last positions.
        """
        T, known = x.shape[1], len(self.positions)
        if known < T:
            raise ValueError(f"x of shape {tuple(x.shape)} has {T} positions, and only {known} were learned")
        return x + self.positions[:T]


def rope(x: Tensor, positions: Tensor | None = None, base: float = 10000.0) -> Tensor:
    """Rotate each pair (2i, 2i + 1) of x (B, h, T, D) by t w_i, where t is the word's position. Shape and dtype stay.

    `positions` (T,) are 0 ... T - 1 unless they are given. For queries and keys rotated alike, q · k depends on
    the distance of the two positions and on nothing else about them.

    Raises:
        ValueError: D is odd, or there are not as many positions as words.
    """
    T, D = x.shape[-2:]
    if positions is None:
        positions = torch.arange(T, device=x.device)
    if positions.shape != (T,):
        raise ValueError(f"x of shape {tuple(x.shape)} has {T} words, and positions {tuple(positions.shape)}")
    angles = _angles(positions, D, base)  # (T, D/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (B, h, T, D/2)
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2)


def alibi_bias(n_heads: int, T: int) -> Tensor:
    """What ALiBi adds to the scores, (h, T, T), which is minus slope times distance, and -inf for the future.

    The slopes are 2^(-8/h), 2^(-16/h), ..., 2^(-8). The first head hardly sees beyond its neighbours, the last one far.
    """
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    places = torch.arange(T)
    distance = places[:, None] - places  # (T, T), query minus key
    bias = -slopes[:, None, None] * distance  # (h, T, T)
    return bias.masked_fill(distance < 0, -math.inf)


def order_properties(encode: Callable[[int, int], Tensor], n: int, d: int) -> dict[str, bool]:
    """The lectures' requirements, measured on `encode(n, d)` -> (n, d).

    unique: no two of the n positions have the same vector. bounded: no value grows much beyond 1. deterministic: asked
    twice, it answers the same. any_length: a run of 2n is to be had (no ValueError) and begins with the run of n.
    relative: one matrix takes every position to the next. Its k-th power then goes k positions on, so one is enough.

    Raises:
        ValueError: n is not above 2d, because with so few positions some matrix always fits.
    """
    if n <= 2 * d:
        raise ValueError(f"{n} positions are too few to measure an encoding of width {d}. More than {2 * d} are needed")
    rows = encode(n, d).double()
    longer = _longer_run(encode, n, d)
    apart = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
    step = torch.linalg.pinv(rows[:-1]) @ rows[1:]  # (D, D): of all matrices the one that comes nearest to the next row
    return {
        "unique": bool(apart.fill_diagonal_(math.inf).min() > 1e-4),
        "bounded": bool((rows if longer is None else longer).abs().max() < 3.0),
        "deterministic": torch.equal(encode(n, d).double(), rows),
        "any_length": longer is not None and torch.allclose(longer[:n], rows, atol=1e-6),
        "relative": torch.allclose(rows[:-1] @ step, rows[1:], atol=1e-4),
    }


def echo_by_hand(ids: Tensor, delay: int = 3, n_letters: int = 26) -> Tensor:
    """The echo of ids (B, T) by one head whose weights are chosen, not learned: logits (B, T, 26).

    All words have the same query and the same key. RoPE rotates them, the query as if it stood `delay` positions
    earlier. So they point in the same direction where the distance is `delay` and nowhere else.
    """
    T, D, certain = ids.shape[1], 64, 20.0
    same = torch.ones(1, 1, T, D, dtype=torch.float64, device=ids.device)
    places = torch.arange(T, device=ids.device)
    scores = certain * rope(same, places - delay) @ rope(same, places).mT  # (1, 1, T, T)
    return scores[0].softmax(-1) @ nn.functional.one_hot(ids, n_letters).double()


def _angles(positions: Tensor, d_model: int, base: float = 10000.0) -> Tensor:
    """t w_i for every position and pair: (...) -> (..., D/2), in double precision, which far positions need."""
    if d_model % 2:
        raise ValueError(f"a width of {d_model} is odd, but sines and cosines come in pairs")
    i = torch.arange(d_model // 2, device=positions.device)
    frequencies = base ** (-2 * i.double() / d_model)
    return positions.double()[..., None] * frequencies


def _longer_run(encode: Callable[[int, int], Tensor], n: int, d: int) -> Tensor | None:
    """`encode(2n, d)`, or None from an encoding that has no more positions."""
    try:
        return encode(2 * n, d).double()
    except ValueError:
        return None
