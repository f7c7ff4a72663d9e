r"""Learn first from text without labels, then specialise: BERT, T5's spans, and fine-tuning of weights in four bits.

BERT is a stack of encoder layers. It reads one sentence or two, `[CLS] a [SEP] b [SEP]`, and learns to guess hidden
words and whether b follows a. What the vector at `[CLS]` knows then is put to other uses, with few labels. QLoRA does
that with base weights of four bits each: a weight is the nearest of sixteen levels times the largest of its block.

    x = norm(words[id] + positions[t] + segments[s])     z = x_T W^T + bias: W are the embeddings again (tied)
    L = mean of -log softmax(z)[word] over hidden words + mean of -log softmax(pair)[is next] over pairs
    best span = argmax of start[i] + end[j],  i <= j,  j - i + 1 <= longest
    scale = max |w| of a block,  code = argmin_k |w / scale - level[k]|,  w ≈ scale · level[code]
    y = dequantised(W) x + b + (alpha / r) B A x

Glossary: B sentences or pairs, T tokens, D width, V vocabulary, r a rank, A (r, in), B (out, r).

Sources: J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding", NAACL
2019, sections 3 and 4.2 and appendix A; C. Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
Text-to-Text Transformer" (T5), JMLR 2020, section 3.1.4; T. Dettmers et al., "QLoRA: Efficient Finetuning of Quantized
LLMs", NeurIPS 2023, sections 2 and 3 and appendix E.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from .encoder_decoder import EncoderLayer

IGNORED = -100
"""The label of a token that is not asked for."""

Sentence = tuple[int, ...]


def pack_pairs(
    first: Sequence[Tensor], second: Sequence[Tensor] | None, cls: int, sep: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences, or pairs of them, in one batch: ids, segments and mask, (B, T) each.

    A row is `[cls] a [sep] b [sep]`, or `[cls] a [sep]` where `second` is None. Segments are 0 up to and including the
    first `[sep]`, and 1 from there on. The mask is True for all of that. Behind it stand zeros, and False.

    Raises:
        ValueError: there are more first sentences than second ones, or fewer.
    """
    if second is not None and len(first) != len(second):
        raise ValueError(f"{len(first)} first sentences and {len(second)} second ones make no pairs")
    opened = [F.pad(F.pad(a, (1, 0), value=cls), (0, 1), value=sep) for a in first]  # [cls] a [sep]
    closed = [opened[0][:0]] * len(first) if second is None else [F.pad(b, (0, 1), value=sep) for b in second]
    rows = [torch.cat(pair) for pair in zip(opened, closed, strict=True)]
    segments = [torch.arange(len(row), device=row.device) >= len(a) for row, a in zip(rows, opened, strict=True)]
    mask = [torch.ones_like(row, dtype=torch.bool) for row in rows]
    ids, segment, real = (pad_sequence(part, batch_first=True) for part in (rows, segments, mask))
    return ids, segment.long(), real


def next_sentence_pairs(
    documents: Sequence[Sequence[Sentence]], generator: torch.Generator
) -> tuple[list[tuple[Sentence, Sentence]], Tensor]:
    """Each sentence with the next one of its document, or with a stranger: pairs, and labels (N,), 1 for the next one.

    A coin is thrown for each pair. A stranger is any sentence of another document that is not equal to the true one.

    Raises:
        ValueError: no other document has such a sentence.
    """
    pairs, labels = [], []
    for number, document in enumerate(documents):
        others = [sentence for i, other in enumerate(documents) if i != number for sentence in other]
        for sentence, true in pairwise(document):
            strangers = [stranger for stranger in others if stranger != true]
            if not strangers:
                raise ValueError(f"no other document has a sentence unlike the one behind {sentence}")
            is_next = bool(torch.rand((), generator=generator, device=generator.device) < 0.5)
            drawn = torch.randint(len(strangers), (), generator=generator, device=generator.device)
            pairs.append((sentence, true if is_next else strangers[int(drawn)]))
            labels.append(is_next)
    return pairs, torch.tensor(labels, dtype=torch.long)


def span_corrupt(
    ids: Sequence[int], starts: Sequence[int], lengths: Sequence[int], sentinels: Sequence[int]
) -> tuple[list[int], list[int]]:
    """T5's task: inputs with a sentinel in the place of each span, and targets that say what stood there.

    Targets are the first sentinel, the words of the first span, the second sentinel, and so on. The sentinel after the
    last one used ends them. Starts ascend, and spans neither overlap nor touch.

    Raises:
        ValueError: there are too few sentinels, or a span does not fit.
    """
    if len(sentinels) <= len(starts):
        raise ValueError(f"{len(starts)} spans need {len(starts) + 1} sentinels, got {len(sentinels)}")
    inputs: list[int] = []
    targets: list[int] = []
    kept_from = 0
    for start, length, sentinel in zip(starts, lengths, sentinels, strict=False):
        if start < kept_from or length < 1 or start + length > len(ids):
            raise ValueError(f"no span of {length} at {start} in {len(ids)} ids, where {kept_from} is the first free")
        inputs += [*ids[kept_from:start], sentinel]
        targets += [sentinel, *ids[start : start + length]]
        kept_from = start + length
    return [*inputs, *ids[kept_from:]], [*targets, sentinels[len(starts)]]


class Bert(nn.Module):
    """`model(ids, segments, mask)`, (B, T) each -> vectors of the words (B, T, D), and logits of the pairs (B, 2).

    The stack is post-norm, as in 2018, with topic 10's encoder layers, whose nonlinearity is ReLU.

    Args:
        vocab_size: words of the vocabulary, V.
        d_model: width D.
        n_heads: heads of every attention.
        d_ff: width inside the feed-forward sublayer.
        n_layers: layers of the stack.
        max_len: the most tokens that a pair can have.
        dropout: share that is dropped in training.

    Raises:
        ValueError: the heads do not divide the width.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        max_len: int = 64,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(2, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers))
        self.pooler = nn.Linear(d_model, d_model)
        self.pair = nn.Linear(d_model, 2)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        for table in (self.words, self.positions, self.segments):
            nn.init.normal_(table.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """`mask` is True for what is no padding.

        Raises:
            ValueError: there are more than `max_len` tokens.
        """
        T, most = ids.shape[1], self.positions.num_embeddings
        if most < T:
            raise ValueError(f"a row has {T} tokens, and the model reads at most {most}")
        places = torch.arange(T, device=ids.device)
        x = self.words(ids) + self.positions(places) + self.segments(segments)  # (B, T, D) + (T, D) + (B, T, D)
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask[:, None, None])  # (B, 1, 1, T): every query may look at every word
        return x, self.pair(self.pooler(x[:, 0]).tanh())

    def word_logits(self, words: Tensor) -> Tensor:
        """Vectors (..., D) of words -> logits (..., V), by the embeddings and a bias."""
        return words @ self.words.weight.T + self.bias


def pretraining_loss(word_logits: Tensor, labels: Tensor, pair_logits: Tensor, is_next: Tensor) -> Tensor:
    """Mean cross-entropy over the hidden words plus that over the pairs.

    Word logits (B, T, V) with labels (B, T), -100 where nothing is asked; pair logits (B, 2) with is_next (B,). Where
    no word is hidden the first part is 0.

    Raises:
        ValueError: labels are not (B, T).
    """
    if labels.shape != word_logits.shape[:-1]:
        raise ValueError(f"word logits {tuple(word_logits.shape)} need labels of their first two axes, "
                         f"got {tuple(labels.shape)}")  # fmt: skip
    hidden = labels != IGNORED
    total = F.cross_entropy(word_logits[hidden], labels[hidden], reduction="sum")
    return total / hidden.sum().clamp(min=1) + F.cross_entropy(pair_logits, is_next)


def best_span(start: Tensor, end: Tensor, mask: Tensor, longest: int) -> Tensor:
    """The likeliest answer of each text: first and last position (B, 2), from the scores of both (B, T).

    An answer has at most `longest` words, and mask (B, T) is True at both of its ends. Where no answer is allowed the
    result is (0, 0), the place of `[CLS]`.

    Raises:
        ValueError: the shapes differ.
    """
    if not start.shape == end.shape == mask.shape:
        shapes = ", ".join(str(tuple(part.shape)) for part in (start, end, mask))
        raise ValueError(f"start, end and mask must have one shape (B, T), got {shapes}")
    T = start.shape[1]
    allowed = torch.ones(T, T, dtype=torch.bool, device=start.device).triu().tril(longest - 1)  # [i, j]
    allowed = allowed & mask[:, :, None] & mask[:, None]  # (B, T, T)
    scores = (start[:, :, None] + end[:, None]).masked_fill(~allowed, -math.inf)
    best = scores.flatten(1).argmax(1)  # 0 where all are minus infinity
    return torch.stack([best // T, best % T], 1)


def nf4_levels(device: torch.device | None = None) -> Tensor:
    """The sixteen levels of 4-bit NormalFloat, ascending from -1 to 1, with 0 among them, float32 (16,).

    They are quantiles of the normal distribution, eight above 0 and seven below, divided by the largest.
    """
    offset = (1 - 1 / 30 + 1 - 1 / 32) / 2
    shares = (torch.linspace(offset, 0.5, n, dtype=torch.float64, device=device)[:-1] for n in (9, 8))
    above, below = map(torch.special.ndtri, shares)
    levels = torch.cat([-below, torch.zeros_like(above[:1]), above.flip(0)])
    return (levels / levels.max()).float()


def quantise(W: Tensor, levels: Tensor, block: int) -> tuple[Tensor, Tensor]:
    """Four bits a weight: codes (blocks, block/2), uint8, and a scale for each block, (blocks,).

    Blocks run through W (out, in) row by row, and the last one is filled with zeros. A scale is the largest |w| of its
    block. Each weight, divided by it, becomes the number of the nearest level. The first of two codes is in the upper
    half of a byte.

    Raises:
        ValueError: the block is not an even number of weights, or there are not sixteen levels.
    """
    if block < 2 or block % 2 or len(levels) != 16:
        raise ValueError(f"a block of {block} weights and {len(levels)} levels; an even block and 16 levels are needed")
    flat = W.detach().flatten()
    blocks = F.pad(flat, (0, -len(flat) % block)).view(-1, block)  # (blocks, block)
    scales = blocks.abs().amax(1)  # (blocks,)
    unit = blocks / scales.masked_fill(scales == 0, 1.0)[:, None]
    codes = (unit[..., None] - levels.to(W)).abs().argmin(-1).to(torch.uint8)  # (blocks, block)
    return codes[:, 0::2] << 4 | codes[:, 1::2], scales


def dequantise(codes: Tensor, scales: Tensor, levels: Tensor, shape: Sequence[int]) -> Tensor:
    """The weights of `quantise`, in `shape` and the scales' dtype: each is its level times the scale of its block."""
    halves = torch.stack([codes >> 4, codes & 15], -1).flatten(1)  # (blocks, block)
    blocks = levels.to(scales)[halves.long()] * scales[:, None]
    return blocks.flatten()[: math.prod(shape)].view(*shape)


class QLoRALinear(nn.Module):
    """A frozen linear layer in four bits a weight, and a low-rank update beside it that learns.

    It begins as the dequantised base. `A` (r, in) is random and `B` (out, r) zero, both of the base's dtype and on its
    device. `codes`, `scales` and `bias` are buffers. Neither the base nor a copy of its weights is kept.

    Raises:
        ValueError: the rank is below one.
    """

    levels: Tensor
    codes: Tensor
    scales: Tensor
    bias: Tensor | None

    def __init__(self, base: nn.Linear, r: int, alpha: float, block: int = 64) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"a rank of {r} leaves nothing to learn. It must be at least 1")
        W = base.weight.detach()
        self.shape, self.scaling = W.shape, alpha / r
        self.register_buffer("levels", nf4_levels(W.device), persistent=False)
        codes, scales = quantise(W, self.levels, block)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        self.register_buffer("bias", None if base.bias is None else base.bias.detach().clone())
        self.A = nn.Parameter(W.new_empty(r, W.shape[1]))
        self.B = nn.Parameter(W.new_zeros(W.shape[0], r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))  # as nn.Linear begins

    def forward(self, x: Tensor) -> Tensor:
        """x (..., in) -> (..., out). The weights are unpacked at every call, and not kept."""
        W = dequantise(self.codes, self.scales, self.levels, self.shape)
        return F.linear(x, W, self.bias) + self.scaling * (x @ self.A.T @ self.B.T)
