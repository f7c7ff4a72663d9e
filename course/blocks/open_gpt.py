"""The GPT of topic 15 with a named place for whatever flows through it, for hooks to read and to change."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .gpt import GPT, DecoderLayer, KeysValues
from .positions import rope


class OpenLayer(DecoderLayer):
    """A `DecoderLayer` that sends everything through an `nn.Identity`, which a hook may replace.

    `stream` is what comes in, `between` the stream behind attention, (B, T, D) each. `weights` are the attention's,
    (B, h, T, S). For each head, `found` has what it brings, (B, T, d), and `added` what that becomes behind W_o,
    (B, T, D). `fed` is what the feed-forward network adds, (B, T, D).
    """

    def __init__(self, d_model: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__(d_model, n_heads, n_groups, d_ff)
        self.stream, self.weights, self.between, self.fed = (nn.Identity() for _ in range(4))
        self.found, self.added = (nn.ModuleList(nn.Identity() for _ in range(n_heads)) for _ in range(2))

    def forward(self, x: Tensor, past: KeysValues | None) -> tuple[Tensor, KeysValues]:
        """Return the tokens after this layer, and keys and values (B, g, S, d) of all tokens so far."""
        x = self.stream(x)
        y = self.norm1(x)
        old = 0 if past is None else past[0].shape[2]
        now = torch.arange(old, old + y.shape[1], device=y.device)
        ask, keys, values = (
            W(y).unflatten(-1, (parts, -1)).movedim(2, 1)
            for W, parts in ((self.W_q, self.heads), (self.W_k, self.groups), (self.W_v, self.groups))
        )
        ask, keys = rope(ask, now), rope(keys, now)
        if past is not None:
            keys, values = torch.cat((past[0], keys), 2), torch.cat((past[1], values), 2)
        scores = ask @ self._shared(keys).mT / ask.shape[-1] ** 0.5  # (B, h, T, S)
        hidden = now[:, None] < torch.arange(keys.shape[2], device=y.device)
        mixed = self.weights(scores.masked_fill(hidden, -torch.inf).softmax(-1)) @ self._shared(values)
        columns = self.W_o.weight.chunk(self.heads, dim=1)  # (D, d) for each head
        for found, added, head, W in zip(self.found, self.added, mixed.unbind(1), columns):
            x = x + added(F.linear(found(head), W))
        x = self.between(x)
        y = self.norm2(x)
        return x + self.fed(self.W_down(F.silu(self.W_gate(y)).mul(self.W_up(y)))), (keys, values)


class OpenGPT(GPT):
    """A `GPT` whose parts can be watched and replaced: the same weights, and the same logits.

    `embedding` is what stands in the stream before the first layer and `stream` what stands there behind the last,
    (B, T, D). `layers` are `OpenLayer`s. The arguments are those of `GPT`.
    """

    def __init__(self, vocab: int, d_model: int, n_layers: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__(vocab, d_model, n_layers, n_heads, n_groups, d_ff)
        self.layers = nn.ModuleList(OpenLayer(d_model, n_heads, n_groups, d_ff) for _ in range(n_layers))
        self.embedding, self.stream = nn.Identity(), nn.Identity()

    def forward(self, ids: Tensor, cache: list[KeysValues] | None = None) -> tuple[Tensor, list[KeysValues]]:
        """Return logits and a new cache for tokens (B, T), or vectors (B, T, D), that follow those in the cache."""
        x, kept = self.embedding(ids if ids.dim() == 3 else self.embed(ids)), list[KeysValues]()
        for number, layer in enumerate(self.layers):
            x, read = layer(x, cache[number] if cache else None)
            kept.append(read)
        return F.linear(self.norm(self.stream(x)), self.words.weight), kept
