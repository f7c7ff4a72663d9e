"""Right answers to `MultiHeadAttention` that look nothing like the reference."""

from __future__ import annotations

import einops
import torch
from torch import nn

from tests.hidden.alternatives.multi_head_attention.scaffold import LayerByStateDict


class LayerWithNewParameters(LayerByStateDict):
    """A layer that loads by replacing its parameters, and returns nothing."""

    def load_torch(self, state):
        for name, part in zip("qkv", state["in_proj_weight"].split(len(state["out_proj.weight"])), strict=True):
            getattr(self, f"W_{name}").weight = nn.Parameter(part.clone())
        self.W_o.weight = nn.Parameter(state["out_proj.weight"].clone())
        if state.get("in_proj_bias") is not None:
            for name, part in zip("qkv", state["in_proj_bias"].reshape(3, -1), strict=True):
                getattr(self, f"W_{name}").bias = nn.Parameter(part.clone())
            self.W_o.bias = nn.Parameter(state["out_proj.bias"].clone())


class LayerOfADict(nn.ModuleDict):
    """A layer that is itself a dict of its four layers, and returns detached weights."""

    def __init__(self, d_model, n_heads, bias=True):
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads, width {d_model}")
        super().__init__({f"W_{letter}": nn.Linear(d_model, d_model, bias) for letter in "qkvo"})
        self.n_heads = n_heads

    def forward(self, x_q, x_kv, mask=None):
        projected = self["W_q"](x_q), self["W_k"](x_kv), self["W_v"](x_kv)
        q, k, v = (einops.rearrange(x, "b t (h d) -> b h t d", h=self.n_heads) for x in projected)
        mask = torch.ones((), dtype=torch.bool) if mask is None else mask
        weights = torch.where(mask, q @ k.mT / q.shape[-1] ** 0.5, -1e30).softmax(-1) * mask
        return self["W_o"](einops.rearrange(weights @ v, "b h t d -> b t (h d)")), weights.detach()

    @torch.no_grad()
    def load_torch(self, state):
        for kind in ("weight", "bias") if "in_proj_bias" in state else ("weight",):
            parts = [*state[f"in_proj_{kind}"].chunk(3), state[f"out_proj.{kind}"]]
            for letter, part in zip("qkvo", parts, strict=True):
                getattr(self[f"W_{letter}"], kind).copy_(part)


ALTERNATIVES = [LayerWithNewParameters, LayerOfADict]
