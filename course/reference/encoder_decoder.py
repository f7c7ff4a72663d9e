"""The Transformer: an encoder of self-attention layers, and a decoder that attends to its output while it writes.

Both are stacks of layers of one pattern. A residual connection adds the output of a sublayer to its input, and a norm
brings the sum (post-norm, as in 2017) or the sublayer's input (pre-norm) to mean 0 and variance 1:

    post:  x <- norm(x + sublayer(x))        pre:  x <- x + sublayer(norm(x))

Glossary: B sentences, T words of the target or of a text, S words of the source, D width, F width inside the
feed-forward sublayer, h heads, V words of a vocabulary.

Source: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, sections 3 and 5; pre-norm: R. Xiong et al.,
"On Layer Normalization in the Transformer Architecture", ICML 2020; the beam's length penalty: the plain form of
Y. Wu et al., "Google's Neural Machine Translation System", 2016, equation 14.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn

from .multi_head_attention import MultiHeadAttention
from .positional_encoding import sinusoidal


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    """Every word (..., D) brought to mean 0 and variance 1 over its own numbers, then scaled and shifted: same shape.

    Half precision is squared in single, because squares of float16 overflow from 256 on.

    Raises:
        ValueError: gamma or beta is not as wide as a word.
    """
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError(f"gamma {tuple(gamma.shape)} and beta {tuple(beta.shape)} for words {tuple(x.shape)}")
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return gamma * (centred / (variance + eps).sqrt()).to(x.dtype) + beta


def feed_forward(x: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Tensor:
    """Two linear maps with a ReLU between, on every word alone: (..., D) -> (..., D), W1 (F, D), W2 (D, F).

    Raises:
        ValueError: the weights do not fit.
    """
    if W1.shape != (len(b1), x.shape[-1]) or W2.shape != (len(b2), len(b1)):
        raise ValueError(f"weights {tuple(W1.shape)} and {tuple(W2.shape)} for words {tuple(x.shape)}")
    return (x @ W1.T + b1).relu() @ W2.T + b2


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward: x (B, T, D) -> (B, T, D).

    Args:
        d_model: the width D.
        n_heads: heads of the attention.
        d_ff: the width F.
        dropout: share of each sublayer's output that is dropped in training, before it is added.
        norm: "post" or "pre".

    Raises:
        ValueError: another `norm`, or heads that do not divide the width.
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1, norm: str = "post") -> None:
        super().__init__()
        _check_norm(norm)
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm = norm

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """`mask` is broadcastable to (B, h, T, T), True where attention is allowed."""
        x = self.around(self.norm1, lambda y: self.self_attention(y, y, mask)[0], x)
        return self.around(self.norm2, self.think, x)

    def around(self, norm: nn.Module, sublayer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        """A sublayer with its residual connection."""
        if self.norm == "pre":
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))

    def think(self, x: Tensor) -> Tensor:
        """The feed-forward sublayer."""
        return self.down(self.up(x).relu())


class DecoderLayer(EncoderLayer):
    """Masked self-attention, then cross-attention, then feed-forward: x (B, T, D) -> (B, T, D)."""

    def __init__(self, d_model: int, n_heads: int, d_ff: int, dropout: float = 0.1, norm: str = "post") -> None:
        super().__init__(d_model, n_heads, d_ff, dropout, norm)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.norm3 = nn.LayerNorm(d_model)

    def forward(  # type: ignore[override]  # it reads the memory, too
        self, x: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, src_mask: Tensor | None = None
    ) -> Tensor:
        """`memory` (B, S, D) is the encoder's output. Masks are broadcastable to (B, h, T, T) and (B, h, T, S)."""
        x = self.around(self.norm1, lambda y: self.self_attention(y, y, tgt_mask)[0], x)
        x = self.around(self.norm2, lambda y: self.cross_attention(y, memory, src_mask)[0], x)
        return self.around(self.norm3, self.think, x)


class Transformer(nn.Module):
    """`model(src (B, S), tgt_in (B, T))` -> logits (B, T, V), at each position for the next word of the target.

    Embeddings times sqrt(D) plus sinusoids, `n_layers` of either kind, and the target's embedding once more as the
    output's weights. In pre-norm each stack ends in a norm.

    Args:
        src_vocab: words of the source.
        tgt_vocab: words of the target, V.
        d_model: width D.
        n_heads: heads of every attention.
        d_ff: width F.
        n_layers: layers of each stack.
        dropout: after each sublayer, and on the embedded words.
        norm: "post" or "pre".
        pad: the id of padding, which masks hide.
        sos: the id that target inputs begin with.
        eos: the id that targets end with.
        max_len: the most words that a sentence can have.

    Raises:
        ValueError: another `norm`, heads that do not divide the width, or an odd width, which has no sinusoidal table.
    """

    positions: Tensor

    def __init__(
        self,
        src_vocab: int,
        tgt_vocab: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.1,
        norm: str = "post",
        pad: int = 0,
        sos: int = 1,
        eos: int = 2,
        max_len: int = 64,
    ) -> None:
        super().__init__()
        self.pad, self.sos, self.eos, self.max_len = pad, sos, eos, max_len
        self.src_embed, self.tgt_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        for embed in (self.src_embed, self.tgt_embed):
            nn.init.normal_(embed.weight, std=d_model**-0.5)
        self.register_buffer("positions", sinusoidal(max_len, d_model), persistent=False)
        sizes = (d_model, n_heads, d_ff, dropout, norm)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(n_layers))
        ends = (nn.LayerNorm(d_model) if norm == "pre" else nn.Identity() for _ in range(2))
        self.encoder_norm, self.decoder_norm = ends
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, src: Tensor, tgt_in: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Masks are broadcastable to (B, h, T, S); without one, padding is hidden, and the target's future.

        Raises:
            ValueError: a sentence has more than `max_len` words.
        """
        if src_mask is None:
            src_mask = self.real(src)
        if tgt_mask is None:
            tgt_mask = self.real(tgt_in) & causal(tgt_in.shape[1], tgt_in.device)
        memory = self.embedded(src, self.src_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory = self.encoder_norm(memory)
        x = self.embedded(tgt_in, self.tgt_embed)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x) @ self.tgt_embed.weight.T

    def embedded(self, ids: Tensor, embed: nn.Embedding) -> Tensor:
        """Embeddings of ids (B, T) plus positional encodings: (B, T, D)."""
        if ids.shape[1] > self.max_len:
            raise ValueError(f"a sentence has {ids.shape[1]} words, and the model reads at most {self.max_len}")
        scaled = embed(ids) * math.sqrt(embed.embedding_dim)
        return self.dropout(scaled + self.positions[: ids.shape[1]])

    def real(self, ids: Tensor) -> Tensor:
        """True where a word is no padding, (B, 1, 1, T)."""
        return (ids != self.pad)[:, None, None]


def causal(T: int, device: torch.device | None = None) -> Tensor:
    """True where a word may look, at itself and the words before it, (T, T)."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()


class Translator(Protocol):
    """What can be decoded: a `Transformer`, or anything that is called like one and has these four numbers."""

    pad: int
    sos: int
    eos: int
    max_len: int

    def __call__(
        self, src: Tensor, tgt_in: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Logits (B, T, V) for sources (B, S) and target words so far (B, T)."""


@torch.no_grad()
def decode_greedy(model: Translator, src: Tensor) -> Tensor:
    """Take the likeliest word at every step: ids (B, L) without sos, with eos, then padding. L is at most max_len."""
    B = len(src)
    said = torch.full((B, 1), model.sos, device=src.device)
    done = torch.zeros(B, dtype=torch.bool, device=src.device)
    for _ in range(model.max_len):
        word = model(src, said)[:, -1].argmax(-1).masked_fill(done, model.pad)
        said = torch.cat([said, word[:, None]], 1)
        done |= word == model.eos
        if done.all():
            break
    return said[:, 1:]


@torch.no_grad()
def decode_beam(model: Translator, src: Tensor, beam: int, length_penalty: float = 1.0) -> Tensor:
    """The best sentence that a search of width `beam` finishes: ids (B, L) as `decode_greedy` gives them.

    The score of a sentence of n words, eos counted, is log p / n^length_penalty. At each step every open hypothesis is
    continued by every word, and the most probable continuations stay. One that ends in eos is finished. It is set
    aside and keeps one of the `beam` places. (Wu et al. 2016, section 7, compare with another power of n.)

    Raises:
        ValueError: the beam is less than 1 wide.
    """
    if beam < 1:
        raise ValueError(f"a beam of {beam} holds no hypothesis, and the smallest is 1")
    found = [_best_of_beam(model, row[None], beam, length_penalty) for row in src]
    length = max((len(words) for words in found), default=0)
    padded = torch.full((len(src), length), model.pad, device=src.device)
    for row, words in zip(padded, found, strict=True):
        row[: len(words)] = words
    return padded


def _best_of_beam(model: Translator, src: Tensor, beam: int, length_penalty: float) -> Tensor:
    """One sentence (1, S) -> its best translation (L,)."""
    said = torch.full((1, 1), model.sos, device=src.device)  # the open hypotheses (K, 1 + words)
    scores = torch.zeros(1, device=src.device)
    finished: list[tuple[float, Tensor]] = []  # of each length the best one, as the others cannot win
    free = beam
    for _ in range(model.max_len):
        log_p = model(src.expand(len(said), -1), said)[:, -1].log_softmax(-1)  # (K, V)
        total = (scores[:, None] + log_p).flatten()
        scores, best = total.topk(min(free, len(total)))
        said = torch.cat([said[best // log_p.shape[1]], (best % log_p.shape[1])[:, None]], 1)
        done = said[:, -1] == model.eos
        if done.any():
            first = int(done.int().argmax())  # topk begins with the most probable
            finished.append((float(scores[first]), said[first, 1:]))
            free -= int(done.sum())
        said, scores = said[~done], scores[~done]
        if not len(said) or not free:
            break
    hypotheses = finished or [(float(scores[0]), said[0, 1:])]
    return max(hypotheses, key=lambda one: one[0] / len(one[1]) ** length_penalty)[1]


def label_smoothing_loss(logits: Tensor, targets: Tensor, epsilon: float, mask: Tensor) -> Tensor:
    """Cross-entropy of softmax(logits (B, T, V)) with (1 - epsilon) one-hot + epsilon/V, the mean over mask (B, T).

    Targets behind the mask do not matter and need not be words (-100, say).

    Raises:
        ValueError: targets or mask are not (B, T).
    """
    if targets.shape != logits.shape[:-1] or mask.shape != targets.shape:
        raise ValueError(f"targets {tuple(targets.shape)}, mask {tuple(mask.shape)} for logits {tuple(logits.shape)}")
    log_p, y = logits[mask].log_softmax(-1), targets[mask]  # (N, V), (N,): the real tokens of all sentences
    right = log_p.gather(-1, y[:, None]).squeeze(-1)  # (N,)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1)).mean()


def warmup_schedule(step: int, d_model: int, warmup: int) -> float:
    """The learning rate of step 1, 2, .... It rises for `warmup` steps, then falls like 1/sqrt(step). Equation 3.

    Raises:
        ValueError: steps count from 1.
    """
    if step < 1 or warmup < 1:
        raise ValueError(f"steps count from 1 and warmup is at least 1, but step is {step} and warmup {warmup}")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def architecture_masks(kind: str, src_lengths: Tensor, tgt_lengths: Tensor | None = None) -> dict[str, Tensor | None]:
    """The masks of an "encoder", a "decoder" and an "encoder-decoder".

    Keys encoder_self, decoder_self and cross: boolean masks (B, 1, 1 or T, S), None where there is no such attention.

    Raises:
        ValueError: there is no such architecture, or the targets' lengths are missing.
    """
    masks: dict[str, Tensor | None] = {"encoder_self": None, "decoder_self": None, "cross": None}
    source = _real(src_lengths)
    if kind == "encoder":
        masks["encoder_self"] = source
    elif kind == "decoder":
        masks["decoder_self"] = source & causal(source.shape[-1], source.device)
    elif kind == "encoder-decoder" and tgt_lengths is not None:
        target = _real(tgt_lengths)
        masks.update(encoder_self=source, cross=source)
        masks["decoder_self"] = target & causal(target.shape[-1], target.device)
    else:
        raise ValueError(f"no masks for {kind!r} with tgt_lengths {'missing' if tgt_lengths is None else 'given'}")
    return masks


def _real(lengths: Tensor) -> Tensor:
    """(B, 1, 1, T) for T = the largest length."""
    return (torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None])[:, None, None]


def _check_norm(norm: str) -> None:
    if norm not in ("post", "pre"):
        raise ValueError(f"norm is 'post' or 'pre', not {norm!r}")
