r"""GPT: a decoder of today's parts, which predicts the next token, and writes by doing so again and again.

Every layer reads the residual stream twice. Attention brings what other tokens know, and the feed-forward network
works on each token by itself:

    x <- x + W_o attention(rope(W_q y), rope(W_k y), W_v y)         y = rms_norm(x)
    x <- x + W_down (silu(W_gate y) · W_up y)                       y = rms_norm(x)
    logits = E rms_norm(x)                                          E is the table of embeddings, too ("tied")

Compared with the Transformer of 2017, the norm has no mean and no shift, and stands in front (pre-norm). Queries and
keys are rotated inside the attention in place of positions that are added at the beginning. Groups of heads share keys
and values. The feed-forward network has a gate, and no matrix has a bias.

Glossary: B texts, T tokens, S tokens with those in the cache, D width, h heads, g groups of heads that share keys and
values, d = D / h the width of a head, F width inside the feed-forward network, V tokens of the vocabulary.

Sources: A. Radford et al., "Improving Language Understanding by Generative Pre-Training", 2018 (GPT); T. Brown et al.,
"Language Models are Few-Shot Learners", NeurIPS 2020 (GPT-3); H. Touvron et al., "LLaMA: Open and Efficient Foundation
Language Models", 2023, section 2.2 (these parts together); B. Zhang, R. Sennrich, "Root Mean Square Layer
Normalization", NeurIPS 2019; N. Shazeer, "GLU Variants Improve Transformer", 2020; J. Ainslie et al., "GQA: Training
Generalized Multi-Query Transformer Models from Multi-Head Checkpoints", EMNLP 2023; A. Holtzman et al., "The Curious
Case of Neural Text Degeneration", ICLR 2020 (top-p); J. Kaplan et al., "Scaling Laws for Neural Language Models", 2020;
J. Hoffmann et al., "Training Compute-Optimal Large Language Models", NeurIPS 2022, equation 2 (E + A / N^alpha).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from .multi_head_attention import merge_heads, split_heads
from .positional_encoding import rope

Pair = tuple[Tensor, Tensor]
"""Keys and values of the tokens so far, both (B, g, S, d)."""
Cache = list[Pair]
"""A pair for each layer."""


def rms_norm(x: Tensor, gamma: Tensor, eps: float = 1e-6) -> Tensor:
    """Divide every token (..., D) by the root of its mean square, then scale it by gamma (D,): same shape and dtype.

    Half precision is squared in single: squares of float16 overflow from 256 on.

    Raises:
        ValueError: gamma is not as wide as a token.
    """
    if gamma.shape != x.shape[-1:]:
        raise ValueError(f"gamma {tuple(gamma.shape)} for tokens {tuple(x.shape)}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = wide.square().mean(-1, keepdim=True)  # (..., 1)
    return gamma * (wide * (mean_square + eps).rsqrt()).to(x.dtype)


def swiglu(x: Tensor, W_gate: Tensor, W_up: Tensor, W_down: Tensor) -> Tensor:
    """A feed-forward network with a gate: (..., D) -> (..., D), W_gate and W_up (F, D), W_down (D, F).

    The gate goes through SiLU, z · sigmoid(z), and is multiplied with what goes up, number by number.

    Raises:
        ValueError: the weights do not fit.
    """
    if not W_gate.shape == W_up.shape == W_down.shape[::-1] or W_gate.shape[-1] != x.shape[-1]:
        shapes = ", ".join(str(tuple(W.shape)) for W in (W_gate, W_up, W_down))
        raise ValueError(f"weights {shapes} for tokens {tuple(x.shape)}")
    gate, up = x @ W_gate.T, x @ W_up.T  # (..., F)
    return (gate * gate.sigmoid() * up) @ W_down.T


def grouped_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Heads that share keys and values in groups: q (B, h, T, d), k and v (B, g, S, d) -> (B, h, T, d).

    Head i reads group i // (h / g), so neighbouring heads share. `mask` is boolean, broadcastable to (B, h, T, S), True
    where attention is allowed. A row with nothing allowed gives zeros.

    Raises:
        ValueError: the groups do not divide the heads.
    """
    h, g = q.shape[1], k.shape[1]
    if g < 1 or h % g:
        raise ValueError(f"{g} groups cannot be shared by {h} heads equally")
    k, v = (shared.repeat_interleave(h // g, dim=1) for shared in (k, v))  # (B, g, S, d) -> (B, h, S, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, h, T, d) @ (B, h, d, S) -> (B, h, T, S)
    if mask is None:
        return scores.softmax(-1) @ v
    # The lowest finite number, not -inf: a row of nothing but -inf would be NaN. What is forbidden ends at zero.
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1).masked_fill(~mask, 0.0) @ v


def cached_attention(
    y: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, n_heads: int, past: Pair | None = None
) -> tuple[Tensor, Pair]:
    """Let new tokens attend to those that the cache holds, and to each other: y (B, T, D) -> (B, T, D).

    W_q (h d, D) makes queries for `n_heads` heads, W_k and W_v (g d, D) keys and values for g groups, and W_o (D, h d)
    mixes what the heads find. `past` holds keys and values of the tokens before. Those of all tokens so far are the
    second result.

    Raises:
        ValueError: the heads do not divide the queries, or the groups do not divide the heads.
    """
    d_head = W_q.shape[0] // n_heads
    q, k, v = (split_heads(y @ W.T, W.shape[0] // d_head) for W in (W_q, W_k, W_v))  # (B, h or g, T, d)
    T, known = y.shape[1], 0 if past is None else past[0].shape[2]
    places = torch.arange(known, known + T, device=y.device)
    q, k = rope(q, places), rope(k, places)
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)  # (B, g, S, d)
    mask = torch.ones(T, known + T, dtype=torch.bool, device=y.device).tril(known)
    return merge_heads(grouped_attention(q, k, v, mask)) @ W_o.T, (k, v)


class RMSNorm(nn.Module):
    """`rms_norm` with a scale to learn, ones at first: (..., D) -> (..., D)."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise every token of x."""
        return rms_norm(x, self.weight)


class GPTLayer(nn.Module):
    """Grouped attention, then SwiGLU, each behind a norm and beside the residual stream: (B, T, D) -> (B, T, D)."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        d_shared = d_model // n_heads * n_groups
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.W_q, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(d_model, d_shared, bias=False) for _ in range(2))
        self.W_gate, self.W_up = (nn.Linear(d_model, d_ff, bias=False) for _ in range(2))
        self.W_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor, past: Pair | None) -> tuple[Tensor, Pair]:
        """Return the tokens x (B, T, D) after this layer, and the keys and values (B, g, S, d) of all tokens so far."""
        found, present = self.attend(self.norm1(x), past)
        x = x + found
        return x + self.feed_forward(self.norm2(x)), present

    def attend(self, y: Tensor, past: Pair | None) -> tuple[Tensor, Pair]:
        """Attend with this layer's weights: y (B, T, D) -> (B, T, D), and keys and values of all tokens so far."""
        W_q, W_k, W_v, W_o = (W.weight for W in (self.W_q, self.W_k, self.W_v, self.W_o))
        return cached_attention(y, W_q, W_k, W_v, W_o, self.n_heads, past)

    def feed_forward(self, y: Tensor) -> Tensor:
        """Work on each token by itself: (B, T, D) -> (B, T, D)."""
        return swiglu(y, self.W_gate.weight, self.W_up.weight, self.W_down.weight)


class GPT(nn.Module):
    """`model(ids (B, T), cache)` -> logits (B, T, V) for the token after each, and the cache for what comes next.

    Args:
        vocab: tokens of the vocabulary, V.
        d_model: width D.
        n_layers: layers.
        n_heads: heads h of every attention.
        n_groups: groups g of heads that share keys and values.
        d_ff: width F.

    Raises:
        ValueError: the heads do not divide the width into even shares, or the groups do not divide the heads.
    """

    def __init__(self, vocab: int, d_model: int, n_layers: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__()
        if n_heads < 1 or d_model % (2 * n_heads):
            raise ValueError(f"{n_heads} heads cannot share a width of {d_model} in equal and even parts")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"{n_groups} groups cannot be shared by {n_heads} heads equally")
        self.words = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList(GPTLayer(d_model, n_heads, n_groups, d_ff) for _ in range(n_layers))
        self.norm = RMSNorm(d_model)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=d_model**-0.5)

    def embed(self, ids: Tensor) -> Tensor:
        """Look up the vectors of tokens: ids (B, T) -> (B, T, D)."""
        return self.words(ids)

    def forward(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Read tokens (B, T), or vectors (B, T, D) in their place, behind those that the cache holds.

        Returns the logits (B, T, V) and a new cache. The cache that is given stays as it is.
        """
        x = ids if ids.is_floating_point() else self.embed(ids)
        pasts = [None] * len(self.layers) if cache is None else cache
        present: Cache = []
        for layer, past in zip(self.layers, pasts, strict=True):
            x, keys_and_values = layer(x, past)
            present.append(keys_and_values)
        return self.norm(x) @ self.words.weight.T, present

    @torch.no_grad()
    def load_published(self, state: Mapping[str, Tensor]) -> GPT:
        """Copy published weights of the same sizes, in any float dtype; returns self.

        The names are `words.weight`, `layers.0.norm1.weight` and so on, as in `state_dict()`.
        """
        self.load_state_dict(dict(state))
        return self


def decoder_parameters(
    V: int,
    D: int,
    layers: int,
    heads: int,
    groups: int,
    d_head: int,
    F: int,
    gated: bool,
    bias: bool,
    tied: bool,
    positions: int = 0,
) -> int:
    """Count the numbers that a decoder learns: embeddings, layers with two norms each, and a norm at the end.

    Args:
        V: tokens of the vocabulary.
        D: width.
        layers: number of layers.
        heads: heads of every attention.
        groups: groups of heads that share keys and values.
        d_head: width of a head; heads · d_head need not be D.
        F: width inside the feed-forward network.
        gated: whether that network has a gate, which is a third matrix.
        bias: whether every matrix but the embeddings has a bias, and every norm a shift.
        tied: whether the output reads the table of embeddings, and has none of its own.
        positions: learned positional embeddings.
    """
    queries, shared = heads * d_head, groups * d_head
    attention = 2 * D * queries + 2 * D * shared + bias * (queries + 2 * shared + D)
    ways_up = 2 if gated else 1
    feed_forward = (ways_up + 1) * D * F + bias * (ways_up * F + D)
    norm = D * (2 if bias else 1)
    tables = V * D * (1 if tied else 2) + positions * D
    return tables + layers * (attention + feed_forward + 2 * norm) + norm


def next_token(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw the next token of every text: logits (B, V) -> ids (B,).

    The logits are divided by the temperature first; a temperature of 0 takes the likeliest token. Then only the `top_k`
    likeliest tokens stay. Of what they share, the fewest stay, likeliest first, whose probabilities reach `top_p`. The
    order is a convention, and libraries differ in it.

    Raises:
        ValueError: a temperature below 0, or nothing that could stay.
    """
    if temperature < 0 or (top_k is not None and top_k < 1) or (top_p is not None and top_p <= 0):
        raise ValueError(f"nothing can be drawn with temperature={temperature}, top_k={top_k}, top_p={top_p}")
    if temperature == 0:
        return logits.argmax(-1)
    scores = logits / temperature
    if top_k is not None:
        least = scores.topk(min(top_k, scores.shape[-1])).values[:, -1:]  # (B, 1)
        scores = scores.masked_fill(scores < least, -math.inf)
    p = scores.softmax(-1)
    if top_p is not None:
        likeliest, tokens = p.sort(-1, descending=True)
        before = likeliest.cumsum(-1) - likeliest  # what those in front of a token have together
        p = torch.zeros_like(p).scatter(-1, tokens, likeliest.masked_fill(before >= top_p, 0.0))
    return torch.multinomial(p, 1, generator=generator).squeeze(-1)


class Writer(Protocol):
    """What writes: a `GPT`, or anything that is called like one."""

    def __call__(self, ids: Tensor, cache: Any = None) -> tuple[Tensor, Any]:
        """Logits (B, T, V) for tokens (B, T) behind a cache, and the new cache."""


@torch.no_grad()
def generate_text(model: Writer, ids: Tensor, n: int, generator: torch.Generator, **how: Any) -> Tensor:
    """Let a model go on with texts: ids (B, T) -> the next n tokens of each, (B, n).

    The model reads the whole prompt once. From then on it reads the one new token of every text, behind the cache.
    `how` goes to `next_token`.
    """
    read, cache, written = ids, None, ids[:, :0]
    for _ in range(n):
        logits, cache = model(read, cache)
        read = next_token(logits[:, -1], generator=generator, **how)[:, None]  # (B, 1)
        written = torch.cat([written, read], dim=1)
    return written


def fit_power_law(N: Tensor, losses: Tensor) -> dict[str, float]:
    """Fit losses = E + A / N^alpha by least squares: sizes N (M,) and losses (M,) -> E, A and alpha.

    For a given alpha the law is a straight line in N^-alpha, so E and A are known. Only alpha is searched for, from
    0.01 to 3, ever more finely.

    Raises:
        ValueError: three numbers need three sizes, and as many losses.
    """
    if N.shape != losses.shape or N.unique().numel() < 3:
        raise ValueError(f"three sizes at least, and a loss for each: got {tuple(N.shape)} and {tuple(losses.shape)}")
    low, high = 0.01, 3.0
    for _ in range(8):
        tried = torch.linspace(low, high, 41, dtype=torch.float64).tolist()
        fits = [_line(N.double(), losses.double(), alpha) for alpha in tried]
        best = min(range(len(tried)), key=lambda i: fits[i][2])
        low, high = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    E, A, _ = fits[best]
    return {"E": E, "A": A, "alpha": tried[best]}


def _line(N: Tensor, losses: Tensor, alpha: float) -> tuple[float, float, float]:
    """E and A that fit best with this alpha, and the sum of the squared errors."""
    smallest = float(N.min())  # sizes in units of the smallest: columns of like size
    columns = torch.stack([torch.ones_like(N), (N / smallest) ** -alpha], dim=1)  # (M, 2)
    E, drop = torch.linalg.lstsq(columns, losses[:, None]).solution.squeeze(1).tolist()
    errors = losses - columns @ torch.tensor([E, drop], dtype=N.dtype)
    return E, drop * smallest**alpha, float(errors.square().sum())
