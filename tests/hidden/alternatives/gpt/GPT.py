"""Right answers to `GPT` that look nothing like the reference."""

from __future__ import annotations

import torch
import torch.nn.functional as F
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


class Fused(nn.Module):
    """One matrix for queries, keys and values of all heads, rotations by complex numbers, and a cache of one tensor."""

    def __init__(self, vocab, d_model, n_layers, n_heads, n_groups, d_ff):
        super().__init__()
        self.heads, self.d_head = (n_heads, n_groups, n_groups), d_model // n_heads
        told = sum(self.heads) * self.d_head
        shapes = {"words": (vocab, d_model), "norms": (2 * n_layers + 1, d_model), "told": (n_layers, told, d_model)}
        shapes |= {"out": (n_layers, d_model, d_model), "wide": (n_layers, 2 * d_ff, d_model)}
        shapes |= {"down": (n_layers, d_model, d_ff)}
        self.held = nn.ParameterDict({name: torch.randn(shape) / d_model**0.5 for name, shape in shapes.items()})

    @torch.no_grad()
    def load_published(self, state):
        parts = {"told": ("W_q", "W_k", "W_v"), "out": ("W_o",), "wide": ("W_gate", "W_up"), "down": ("W_down",)}
        self.held["words"].copy_(state["words.weight"])
        self.held["norms"][-1] = state["norm.weight"]
        for i in range(len(self.held["out"])):
            for k in (0, 1):
                self.held["norms"][2 * i + k] = state[f"layers.{i}.norm{k + 1}.weight"]
            for name, joined in parts.items():
                self.held[name][i] = torch.cat([state[f"layers.{i}.{part}.weight"] for part in joined])
        return self

    def embed(self, ids):
        return F.embedding(ids, self.held["words"])

    def forward(self, ids, cache=None):
        x = ids if ids.is_floating_point() else self.embed(ids)
        B, T, D = x.shape
        known = 0 if cache is None else cache.shape[-2]
        ones = torch.tensor([1.0, 0.0]).repeat(self.d_head // 2).expand(T, -1)  # (T, d), each pair is the number 1
        factors = _complex(rope(ones, known + torch.arange(T)))  # (T, d/2)
        hidden = torch.ones(T, known + T, dtype=torch.bool).triu(known + 1)
        present = []
        for i in range(len(self.held["out"])):
            told = self._norm(x, 2 * i) @ self.held["told"][i].T  # (B, T, (h + 2g) d)
            q, k, v = told.unflatten(-1, (-1, self.d_head)).transpose(1, 2).split(self.heads, 1)
            q, k = (torch.view_as_real(_complex(y) * factors).flatten(-2) for y in (q, k))
            kv = torch.stack([k, v])  # (2, B, g, T, d)
            kv = kv if cache is None else torch.cat([cache[i], kv], dim=-2)
            present.append(kv)
            shared = kv.repeat_interleave(self.heads[0] // self.heads[1], dim=2)  # (2, B, h, S, d)
            scores = (q @ shared[0].mT / self.d_head**0.5).masked_fill(hidden, -torch.inf)
            found = scores.softmax(-1) @ shared[1]
            x = x + found.transpose(1, 2).reshape(B, T, D) @ self.held["out"][i].T
            gate, up = (self._norm(x, 2 * i + 1) @ self.held["wide"][i].T).chunk(2, -1)
            x = x + (F.silu(gate) * up) @ self.held["down"][i].T
        return self._norm(x, -1) @ self.held["words"].T, torch.stack(present)

    def _norm(self, x, i):
        return rms_norm(x, self.held["norms"][i])


def _complex(x):
    """Pairs (2i, 2i + 1) as complex numbers: (..., d) -> (..., d/2)."""
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())


ALTERNATIVES = [Plain, ReadsAllAgain, Fused]
