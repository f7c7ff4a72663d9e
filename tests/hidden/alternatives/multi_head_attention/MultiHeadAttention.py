"""Right answers to `MultiHeadAttention` that look nothing like the reference."""

from __future__ import annotations

import einops
import torch
from torch import nn
from torch.nn import functional as F

from tests.hidden.alternatives.multi_head_attention.scaffold import LayerByStateDict, attention_head_by_head, heads_of


class LayerWithAColumnOfOnes(nn.Module):
    """Biases folded into the matrices, a column of ones beside the words; load_torch returns nothing."""

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("no")
        self.n_heads, self.d_model = n_heads, d_model
        self.W_o = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_q = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x_q, x_kv, mask=None):
        matrices = [self.W_q, self.W_k, self.W_v]
        weights = [W.weight for W in matrices]
        if self.W_o.bias is not None:
            x_q, x_kv = (torch.cat([x, torch.ones_like(x[..., :1])], -1) for x in (x_q, x_kv))
            weights = [torch.cat([W.weight, W.bias[:, None]], 1) for W in matrices]
        q, k, v = (x @ W.T for x, W in zip((x_q, x_kv, x_kv), weights, strict=True))
        together, seen = heads_of(q, k, v, self.n_heads, mask)
        return F.linear(together, self.W_o.weight, self.W_o.bias), seen

    def load_torch(self, state):
        D = self.d_model
        with torch.no_grad():
            for i, W in enumerate((self.W_q, self.W_k, self.W_v)):
                W.weight[:] = state["in_proj_weight"][i * D : (i + 1) * D]
                if W.bias is not None:
                    W.bias[:] = state["in_proj_bias"][i * D : (i + 1) * D]
            self.W_o.weight[:] = state["out_proj.weight"]
            if self.W_o.bias is not None:
                self.W_o.bias[:] = state["out_proj.bias"]


class LayerWithNewParameters(LayerByStateDict):
    """Puts fresh parameters in place of the old ones; heads in a loop."""

    def forward(self, x_q, x_kv, mask=None):
        eye = torch.eye(x_q.shape[-1])
        out, weights = attention_head_by_head(
            self.W_q(x_q), _twice(self.W_k(x_kv), self.W_v(x_kv)), *_readers(eye), self.W_o.weight, self.heads, mask
        )
        return out if self.W_o.bias is None else out + self.W_o.bias, weights

    def load_torch(self, state):
        for name, part in zip("qkv", state["in_proj_weight"].split(len(state["out_proj.weight"])), strict=True):
            getattr(self, f"W_{name}").weight = nn.Parameter(part.clone())
        self.W_o.weight = nn.Parameter(state["out_proj.weight"].clone())
        if state.get("in_proj_bias") is not None:
            for name, part in zip("qkv", state["in_proj_bias"].reshape(3, -1), strict=True):
                getattr(self, f"W_{name}").bias = nn.Parameter(part.clone())
            self.W_o.bias = nn.Parameter(state["out_proj.bias"].clone())


def _twice(k, v):
    """Keys and values side by side, as one sequence of words twice as wide."""
    return torch.cat([k, v], -1)


def _readers(eye):
    """W_q, W_k, W_v that read projected words: the query as it is, the halves of what `_twice` made."""
    nothing = torch.zeros_like(eye)
    return eye, torch.cat([eye, nothing], 1), torch.cat([nothing, eye], 1)


class LayerOfADict(nn.ModuleDict):
    """Is itself the dict of its four layers; the weights that come back are for the eye, and cut off."""

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


ALTERNATIVES = [LayerWithAColumnOfOnes, LayerByStateDict, LayerWithNewParameters, LayerOfADict]
