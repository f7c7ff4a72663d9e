"""Right answers to `GPT` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn

from course.reference.gpt import grouped_attention, rms_norm, swiglu
from course.reference.positional_encoding import rope


class Plain(nn.Module):
    """Everything in one list of tensors, and a cache of keys that are not rotated yet."""

    def __init__(self, vocab, d_model, n_layers, n_heads, n_groups, d_ff):
        super().__init__()
        self.n_layers, self.d_head = n_layers, d_model // n_heads
        shared = n_groups * self.d_head
        shapes = {"norm1": (d_model,), "W_q": (d_model, d_model), "W_k": (shared, d_model), "W_v": (shared, d_model)}
        shapes |= {"W_o": (d_model, d_model), "norm2": (d_model,), "W_gate": (d_ff, d_model), "W_up": (d_ff, d_model)}
        shapes |= {"W_down": (d_model, d_ff)}
        self.table = nn.Parameter(torch.randn(vocab, d_model) / d_model**0.5)
        self.last = nn.Parameter(torch.ones(d_model))
        self.weights = nn.ModuleList(
            nn.ParameterDict({name: nn.Parameter(torch.randn(*shape)) for name, shape in shapes.items()})
            for _ in range(n_layers)
        )

    @torch.no_grad()
    def load_published(self, state):
        self.table.copy_(state["words.weight"])
        self.last.copy_(state["norm.weight"])
        for i, layer in enumerate(self.weights):
            for name, weight in layer.items():
                weight.copy_(state[f"layers.{i}.{name}.weight"])
        return self

    def embed(self, ids):
        return self.table[ids]

    def forward(self, ids, cache=None):
        x = self.embed(ids) if ids.dim() == 2 else ids
        known, new = (0, []) if cache is None else (cache[0], [])
        for i, w in enumerate(self.weights):
            y = rms_norm(x, w["norm1"])
            q, k, v = ((y @ w[n].T).unflatten(-1, (-1, self.d_head)).transpose(1, 2) for n in ("W_q", "W_k", "W_v"))
            if cache is not None:
                k, v = torch.cat([cache[1][i][0], k], 2), torch.cat([cache[1][i][1], v], 2)
            new.append((k, v))
            T, S = q.shape[2], k.shape[2]
            allowed = torch.arange(S) <= known + torch.arange(T)[:, None]
            found = grouped_attention(rope(q, known + torch.arange(T)), rope(k, torch.arange(S)), v, allowed)
            x = x + found.transpose(1, 2).flatten(2) @ w["W_o"].T
            x = x + swiglu(rms_norm(x, w["norm2"]), w["W_gate"], w["W_up"], w["W_down"])
        return rms_norm(x, self.last) @ self.table.T, (known + ids.shape[1], new)


class ReadsAllAgain(Plain):
    """A cache of everything that was read, as vectors: right, and slow."""

    def forward(self, ids, cache=None):
        x = self.embed(ids) if ids.dim() == 2 else ids
        everything = x if cache is None else torch.cat([cache, x], dim=1)
        logits, _ = super().forward(everything)
        return logits[:, -x.shape[1] :], everything


ALTERNATIVES = [Plain, ReadsAllAgain]
