"""The GPT of topic 15, on torch's own norm and attention, with the names of its published weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .positions import rope

KeysValues = tuple[Tensor, Tensor]
"""Keys and values of all tokens so far, (B, g, S, d) each."""


class DecoderLayer(nn.Module):
    """Grouped causal attention with RoPE, then SwiGLU: `layer(x (B, T, D), past)` -> (B, T, D), keys and values."""

    def __init__(self, d_model: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__()
        self.heads, self.groups = n_heads, n_groups
        narrow = d_model // n_heads * n_groups
        widths = (d_model, narrow, narrow, d_model, d_ff, d_ff)
        layers = [*(nn.Linear(d_model, width, bias=False) for width in widths), nn.Linear(d_ff, d_model, bias=False)]
        self.W_q, self.W_k, self.W_v, self.W_o, self.W_gate, self.W_up, self.W_down = layers
        self.norm1, self.norm2 = (nn.RMSNorm(d_model, 1e-6) for _ in range(2))

    def forward(self, x: Tensor, past: KeysValues | None) -> tuple[Tensor, KeysValues]:
        """Return the tokens after this layer, and keys and values (B, g, S, d) of all tokens so far."""
        y = self.norm1(x)
        old = 0 if past is None else past[0].shape[2]
        now = torch.arange(old, old + y.shape[1], device=y.device)
        ask = rope(_split(self.W_q(y), self.heads), now)
        keys, values = rope(_split(self.W_k(y), self.groups), now), _split(self.W_v(y), self.groups)
        if past is not None:
            keys, values = torch.cat((past[0], keys), 2), torch.cat((past[1], values), 2)
        seen = now[:, None] >= torch.arange(keys.shape[2], device=y.device)  # (T, S)
        found, told = (self._shared(tensor) for tensor in (keys, values))  # (B, g, S, d) -> (B, h, S, d)
        mixed = F.scaled_dot_product_attention(ask, found, told, attn_mask=seen)  # (B, h, T, d)
        x = x + self.W_o(mixed.movedim(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.W_down(F.silu(self.W_gate(y)).mul(self.W_up(y))), (keys, values)

    def _shared(self, x: Tensor) -> Tensor:
        return x[:, :, None].expand(-1, -1, self.heads // self.groups, -1, -1).flatten(1, 2)


class GPT(nn.Module):
    """A GPT: `model(ids (B, T), cache=None)` -> logits (B, T, V) and a new cache, as the `GPT` of topic 15.

    Vectors (B, T, D) may stand in place of ids. `embed(ids)` looks up the vectors of tokens.

    Args:
        vocab: tokens of the vocabulary, V.
        d_model: width D.
        n_layers: layers.
        n_heads: heads of every attention.
        n_groups: groups of heads that share keys and values.
        d_ff: width inside the feed-forward networks.
    """

    def __init__(self, vocab: int, d_model: int, n_layers: int, n_heads: int, n_groups: int, d_ff: int) -> None:
        super().__init__()
        self.words = nn.Embedding(num_embeddings=vocab, embedding_dim=d_model)
        self.layers = nn.ModuleList([DecoderLayer(d_model, n_heads, n_groups, d_ff) for _ in range(n_layers)])
        self.norm = nn.RMSNorm(d_model, 1e-6)

    def embed(self, ids: Tensor) -> Tensor:
        """Look up the vectors of tokens: ids (B, T) -> (B, T, D)."""
        found: Tensor = self.words(ids)
        return found

    def forward(self, ids: Tensor, cache: list[KeysValues] | None = None) -> tuple[Tensor, list[KeysValues]]:
        """Return logits and a new cache for tokens (B, T), or vectors (B, T, D), that follow those in the cache."""
        x, kept = (ids if ids.dim() == 3 else self.embed(ids)), list[KeysValues]()
        for number, layer in enumerate(self.layers):
            x, read = layer(x, cache[number] if cache else None)
            kept.append(read)
        return F.linear(self.norm(x), self.words.weight), kept

    def load_published(self, state: Mapping[str, Tensor]) -> GPT:
        """Copy published weights of the same sizes, in any float dtype, and return the model."""
        self.load_state_dict(dict(state))
        return self


def _split(x: Tensor, parts: int) -> Tensor:
    return x.unflatten(-1, (parts, -1)).movedim(2, 1)  # (B, T, n d) -> (B, n, T, d)
