"""What several of this topic's answers are made of."""

from __future__ import annotations

import math

import einops
import torch
from torch import nn


def split_by_einops(x, n_heads):
    """einops' own error for a width that cannot be divided is no ValueError, so ask first."""
    if x.shape[-1] % n_heads:
        raise ValueError(f"{x.shape[-1]} / {n_heads}")
    return einops.rearrange(x, "batch word (head column) -> batch head word column", head=n_heads)


def split_by_slices(x, n_heads):
    width = x.shape[-1] / n_heads
    if width != int(width):
        raise ValueError(width)
    d = int(width)
    parts = [x[:, :, head * d : (head + 1) * d] for head in range(n_heads)]
    return torch.cat([part.unsqueeze(1) for part in parts], 1)


def merge_by_cat(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


def merge_by_einops(x):
    return einops.rearrange(x, "b h t d -> b t (h d)")


def softmax_where(scores, allowed):
    """Exponentials of what is allowed; a row of zeros stays zeros."""
    if allowed is None:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp() * allowed
    total = exponentials.sum(-1, keepdim=True)
    return exponentials / total.masked_fill(total == 0, 1.0)


def attention_head_by_head(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """One head after the other, with its rows of the matrices and its columns of W_o; the parts are added."""
    D = x_q.shape[-1]
    if D % n_heads:
        raise ValueError("no")
    d, out, weights = D // n_heads, 0, []
    if mask is not None:
        mask = mask.expand(x_q.shape[0], n_heads, x_q.shape[1], x_kv.shape[1])
    for head in range(n_heads):
        rows = slice(head * d, (head + 1) * d)
        scores = x_q @ W_q[rows].T @ (x_kv @ W_k[rows].T).mT / math.sqrt(d)
        weights.append(softmax_where(scores, None if mask is None else mask[:, head]))
        out = out + weights[-1] @ (x_kv @ W_v[rows].T) @ W_o[:, rows].T
    return out, torch.stack(weights, 1)


def heads_of(q, k, v, n_heads, mask):
    q, k, v = (split_by_slices(x, n_heads) for x in (q, k, v))
    weights = softmax_where(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return merge_by_cat(weights @ v), weights


class LayerByStateDict(nn.Module):
    """Loads by renaming into its own state_dict, and hands back what load_state_dict says."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model} % {n_heads}")
        self.heads = n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias))

    def forward(self, x_q, x_kv, mask=None):
        together, weights = heads_of(self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv), self.heads, mask)
        return self.W_o(together), weights

    def load_torch(self, state):
        renamed = {"W_o." + name.split(".")[1]: value for name, value in state.items() if name.startswith("out_proj")}
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in state:
                for name, part in zip("qkv", torch.tensor_split(state[f"in_proj_{kind}"], 3), strict=True):
                    renamed[f"W_{name}.{kind}"] = part
        return self.load_state_dict(renamed)
