r"""Attention for recurrent networks: the decoder, before it writes a word, looks back at every word of the source.

Each position of the source gets a score for the decoder's state, softmax makes weights of the scores, and the context
is the mean of the encoder's states under these weights. Training decides where to look, and no alignment is ever given.

    e_j = vᵀ tanh(W_q s + W_k h_j)                      additive scores (Bahdanau), s is the state before the step
    e_j = s · h_j          e_j = sᵀ W h_j               dot and general scores (Luong)
    α = softmax(e),  c = Σ_j α_j h_j                    over what the mask allows
    s_t = GRU([y_{t−1}; c_t], s_{t−1}),  logits_t = W_y [s_t; c_t; y_{t−1}] + b

Glossary: B sentences, S positions of the source, T of the target, Q width of a query, K of a key, D of a value, A of
the attention, V tokens. Weights are (out, in), as in PyTorch; masks are True where attention is allowed.

Sources: D. Bahdanau, K. Cho, Y. Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate",
ICLR 2015, section 3 and appendix A; M.-T. Luong, H. Pham, C. Manning, "Effective Approaches to Attention-based Neural
Machine Translation", EMNLP 2015, section 3.1; F. Och, H. Ney, "A Systematic Comparison of Various Statistical Alignment
Models", Computational Linguistics 29, 2003, section 5 (alignment error rate).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def additive_scores(query: Tensor, keys: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, K) for one query (B, Q) a sentence; W_q (A, Q), W_k (A, K), v (A,).

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(query, keys)
    A, Q, K = len(v), query.shape[1], keys.shape[2]
    if v.ndim != 1 or W_q.shape != (A, Q) or W_k.shape != (A, K):
        found = ", ".join(str(tuple(weight.shape)) for weight in (W_q, W_k, v))
        raise ValueError(f"queries of width {Q} and keys of width {K} need W_q (A, {Q}), W_k (A, {K}), v (A,): {found}")
    asked = (query @ W_q.T).unsqueeze(1)  # (B, 1, A)
    return torch.tanh(asked + keys @ W_k.T) @ v  # (B, S, A) -> (B, S)


def dot_scores(query: Tensor, keys: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, D) for one query (B, D) a sentence: how far they point the same way.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(query, keys)
    if query.shape[1] != keys.shape[2]:
        raise ValueError(f"query and keys must be of one width, got {tuple(query.shape)} and {tuple(keys.shape)}")
    return (keys @ query.unsqueeze(2)).squeeze(2)  # (B, S, D) @ (B, D, 1) -> (B, S)


def general_scores(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, K) for one query (B, Q) a sentence, through a matrix W (Q, K).

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(query, keys)
    if W.shape != (query.shape[1], keys.shape[2]):
        raise ValueError(
            f"query {tuple(query.shape)} and keys {tuple(keys.shape)} need W ({query.shape[1]}, {keys.shape[2]}), "
            f"got {tuple(W.shape)}"
        )
    return dot_scores(query @ W, keys)


def attend(scores: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Context (B, D) and weights (B, S) from scores (B, S), values (B, S, D) and a boolean mask (B, S).

    The weights of a sentence sum to one over what the mask allows. Where it allows nothing, weights and context are
    zero. What stands behind the mask does not matter, neither in the scores nor in the values. It may be NaN.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    if values.ndim != 3 or scores.shape != values.shape[:2] or mask.shape != scores.shape:
        found = ", ".join(str(tuple(tensor.shape)) for tensor in (scores, values, mask))
        raise ValueError(f"expected scores (B, S), values (B, S, D) and a mask (B, S), got {found}")
    lowest = torch.finfo(scores.dtype).min  # finite, so that softmax of a row of them is no NaN
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=-1) * mask
    values = values.masked_fill(~mask.unsqueeze(2), 0.0)  # 0 · NaN is NaN
    return (weights.unsqueeze(1) @ values).squeeze(1), weights  # (B, 1, S) @ (B, S, D) -> (B, D)


def shift_right(targets: Tensor, sos: int) -> Tensor:
    """What the decoder reads while it is taught: targets (B, T) one position later, `sos` in front, the last one gone.

    Raises:
        ValueError: targets are not (B, T) with at least one position.
    """
    if targets.ndim != 2 or targets.shape[1] == 0:
        raise ValueError(f"expected targets (B, T) with at least one token each, got {tuple(targets.shape)}")
    first = torch.full_like(targets[:, :1], sos)
    return torch.cat([first, targets[:, :-1]], dim=1)


def alignment_error_rate(weights: Tensor, gold: Tensor, lengths: Tensor) -> float:
    """The share of target tokens whose largest weight does not lie on their gold source position.

    weights are (B, T, S), gold (B, T) holds positions of the source, and of each target the first lengths (B,) tokens
    are real. With one sure link for each token this is the rate of Och and Ney.

    Raises:
        ValueError: the shapes do not fit together, or no token is real.
    """
    B, T, _ = weights.shape
    if gold.shape != (B, T) or lengths.shape != (B,):
        found = ", ".join(str(tuple(tensor.shape)) for tensor in (weights, gold, lengths))
        raise ValueError(f"expected weights (B, T, S), gold (B, T) and lengths (B,), got {found}")
    real = torch.arange(T, device=lengths.device) < lengths[:, None]  # (B, T)
    if not bool(real.any()):
        raise ValueError(f"no token is real: lengths {lengths.tolist()}")
    hits = (weights.argmax(dim=-1) == gold) & real
    return 1 - float(hits.sum()) / float(real.sum())


class AttentionSeq2Seq(nn.Module):
    """A bidirectional GRU reads, a GRU writes, and before each step it looks back with additive attention.

    `attention` is the width A. With 0 there is no looking back, and the context is the encoder's last state at every
    step (Cho et al. 2014). `tgt` holds eos and no sos. What follows the eos is padding.
    """

    def __init__(
        self, src_vocab: int, tgt_vocab: int, embed: int, hidden: int, attention: int,
        pad: int = 0, sos: int = 1, eos: int = 2,
    ) -> None:  # fmt: skip
        super().__init__()
        self.attention, self.pad, self.sos, self.eos = attention, pad, sos, eos
        each = (hidden + 1) // 2  # a direction's share of a state of the encoder
        self.embed_src, self.embed_tgt = nn.Embedding(src_vocab, embed), nn.Embedding(tgt_vocab, embed)
        self.encoder = nn.GRU(embed, each, batch_first=True, bidirectional=True)
        self.start = nn.Linear(2 * each, hidden)
        if attention:
            self.W_q = nn.Linear(hidden, attention, bias=False)
            self.W_k = nn.Linear(2 * each, attention, bias=False)
            self.v = nn.Parameter((2 * torch.rand(attention) - 1) / attention**0.5)
        self.decoder = nn.GRUCell(embed + 2 * each, hidden)
        self.to_tokens = nn.Linear(hidden + 2 * each + embed, tgt_vocab)

    def forward(self, src: Tensor, src_lengths: Tensor, tgt: Tensor) -> Tensor:
        """Logits (B, T, V) of each token of tgt (B, T), given those before it and src (B, S)."""
        keys, mask, last = self.encode(src, src_lengths)
        state, logits = torch.tanh(self.start(last)), []
        for token in shift_right(tgt, self.sos).unbind(dim=1):
            scores, state, _ = self.step(token, state, keys, mask, last)
            logits.append(scores)
        return torch.stack(logits, dim=1)  # T times (B, V) -> (B, T, V)

    @torch.no_grad()
    def decode_greedy(self, src: Tensor, src_lengths: Tensor, max_len: int) -> tuple[Tensor, Tensor]:
        """The most likely token at each step, fed back: ids (B, L) and weights (B, L, S), L at most max_len.

        A sentence ends with its eos, and padding follows until the longest one has ended. Without attention weights are
        zero.
        """
        keys, mask, last = self.encode(src, src_lengths)
        state, ids, weights = torch.tanh(self.start(last)), list[Tensor](), list[Tensor]()
        token = torch.full_like(src_lengths, self.sos)
        ended = torch.zeros_like(mask[:, 0])
        while len(ids) < max_len and not bool(ended.all()):
            scores, state, looked = self.step(token, state, keys, mask, last)
            token = scores.argmax(dim=-1).masked_fill(ended, self.pad)
            ended = ended | (token == self.eos)
            ids.append(token)
            weights.append(looked)
        return torch.stack(ids, dim=1), torch.stack(weights, dim=1)

    def encode(self, src: Tensor, src_lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The encoder's states (B, S, K), where they are real (B, S), and the last one of each direction (B, K)."""
        packed = pack_padded_sequence(self.embed_src(src), src_lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)  # packed: no direction reads a pad
        keys, _ = pad_packed_sequence(states, batch_first=True, total_length=src.shape[1])
        mask = torch.arange(src.shape[1], device=src.device) < src_lengths[:, None]
        return keys, mask, torch.cat([last[0], last[1]], dim=1)  # twice (B, K / 2) -> (B, K)

    def step(
        self, token: Tensor, state: Tensor, keys: Tensor, mask: Tensor, last: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One step: token (B,) and state (B, H) give logits (B, V), the next state, and weights (B, S)."""
        context, weights = last, torch.zeros_like(keys[:, :, 0])
        if self.attention:
            scores = additive_scores(state, keys, self.W_q.weight, self.W_k.weight, self.v)
            context, weights = attend(scores, keys, mask)
        read = self.embed_tgt(token)  # (B, E)
        state = self.decoder(torch.cat([read, context], dim=1), state)
        return self.to_tokens(torch.cat([state, context, read], dim=1)), state, weights


def _check(query: Tensor, keys: Tensor) -> None:
    if query.ndim != 2 or keys.ndim != 3 or len(query) != len(keys):
        raise ValueError(
            f"expected a query (B, Q) and keys (B, S, K), got {tuple(query.shape)} and {tuple(keys.shape)}"
        )
