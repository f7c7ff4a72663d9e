"""Right answers to topic 07 that look nothing like the reference."""

from __future__ import annotations

import math

import einops
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# -- splitting and merging -------------------------------------------------------------------------------------------


def split_by_chunks(x, n_heads):
    if x.shape[2] % n_heads != 0:
        raise ValueError("no")
    return torch.stack(x.chunk(n_heads, dim=2), dim=1)


def split_by_einops(x, n_heads):
    """einops' own error for a width that cannot be divided is no ValueError, so ask first."""
    if x.shape[-1] % n_heads:
        raise ValueError(f"{x.shape[-1]} / {n_heads}")
    return einops.rearrange(x, "batch word (head column) -> batch head word column", head=n_heads)


def split_by_view_and_permute(x, n_heads):
    B, T, D = x.size()
    d, rest = divmod(D, n_heads)
    if rest:
        raise ValueError("heads do not divide the width")
    return x.contiguous().view(B, T, n_heads, d).permute(0, 2, 1, 3).contiguous()


def split_by_unfolding(x, n_heads):
    if x.shape[-1] % n_heads:
        raise ValueError("no")
    d = x.shape[-1] // n_heads
    return x.unfold(-1, d, d).movedim(2, 1)


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


def merge_by_view(x):
    B, h, T, d = x.shape
    return x.permute(0, 2, 1, 3).contiguous().view(B, T, h * d)


def merge_word_by_word(x):
    return torch.stack([x[:, :, t].reshape(len(x), -1) for t in range(x.shape[2])], dim=1)


# -- attention -------------------------------------------------------------------------------------------------------


def _softmax_where(scores, allowed):
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
        weights.append(_softmax_where(scores, None if mask is None else mask[:, head]))
        out = out + weights[-1] @ (x_kv @ W_v[rows].T) @ W_o[:, rows].T
    return out, torch.stack(weights, 1)


def attention_by_einops(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = (split_by_einops(x @ W.mT, n_heads) for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e20, dtype=scores.dtype))
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = torch.where(mask, weights, torch.zeros_like(weights))
    W = W_o.unflatten(1, (n_heads, -1))  # (D, h, d)
    return torch.einsum("bhts,bhsd,ehd->bte", weights, v, W), weights


def attention_with_heads_folded_into_the_batch(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """As in many libraries: (B h, T, d), the mask repeated head by head, -inf and its NaN taken away afterwards."""
    B, T, D = x_q.shape
    if D % n_heads:
        raise ValueError("no")

    def fold(x):
        return x.reshape(B, -1, n_heads, D // n_heads).transpose(1, 2).reshape(B * n_heads, -1, D // n_heads)

    q, k, v = fold(F.linear(x_q, W_q)), fold(F.linear(x_kv, W_k)), fold(F.linear(x_kv, W_v))
    scores = torch.bmm(q / math.sqrt(D / n_heads), k.transpose(1, 2))
    if mask is not None:
        allowed = mask.expand(B, n_heads, T, x_kv.shape[1]).reshape(B * n_heads, T, -1)
        scores = scores.masked_fill(allowed.logical_not(), float("-inf"))
    weights = nn.Softmax(dim=-1)(scores)
    if mask is not None:
        weights = weights.nan_to_num(0.0)
    together = torch.bmm(weights, v).reshape(B, n_heads, T, -1).transpose(1, 2).reshape(B, T, D)
    return F.linear(together, W_o), weights.reshape(B, n_heads, T, -1)


def attention_with_an_additive_mask(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """-inf added where nothing is allowed, and NaN made zeros where there was nothing else."""
    q, k, v = (split_by_unfolding(F.linear(x, W), n_heads) for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    scores = torch.matmul(q, k.transpose(-2, -1)).div(math.sqrt(k.size(-1)))
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)
    weights = torch.nan_to_num(torch.softmax(scores, -1))
    return merge_by_einops(weights @ v) @ W_o.mT, weights


def attention_with_float32_constants(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q = split_by_chunks(x_q @ W_q.T, n_heads)
    k, v = split_by_chunks(torch.cat([x_kv @ W_k.T, x_kv @ W_v.T], dim=0), n_heads).chunk(2)
    scores = q @ k.transpose(2, 3) / np.sqrt(np.float32(q.shape[-1]))
    weights = _softmax_where(scores, mask)
    return [merge_by_cat(weights @ v) @ W_o.T, weights]


def attention_without_queries_keys_or_values(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Each head is two matrices (D, D): one that compares words with words, one that carries words over."""
    D = x_q.shape[-1]
    if D % n_heads:
        raise ValueError("no")
    q, k, v = (W.reshape(n_heads, -1, D) for W in (W_q, W_k, W_v))  # (h, d, D)
    compares = torch.einsum("hdi,hdj->hij", q, k) / (D // n_heads) ** 0.5
    carries = torch.einsum("ohd,hdj->hoj", W_o.reshape(D, n_heads, -1), v)
    weights = _softmax_where(torch.einsum("bti,hij,bsj->bhts", x_q, compares, x_kv), mask)
    return torch.einsum("bhts,bsj,hoj->bto", weights, x_kv, carries), weights


# -- the layer -------------------------------------------------------------------------------------------------------


def attention_to_draw(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The weights that come back are for the eye, and cut off."""
    out, weights = attention_head_by_head(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)
    return out, weights.detach()


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
        together, seen = _heads_of(q, k, v, self.n_heads, mask)
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


def _heads_of(q, k, v, n_heads, mask):
    q, k, v = (split_by_slices(x, n_heads) for x in (q, k, v))
    weights = _softmax_where(q @ k.mT / q.shape[-1] ** 0.5, mask)
    return merge_word_by_word(weights @ v), weights


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
        together, weights = _heads_of(self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv), self.heads, mask)
        return self.W_o(together), weights

    def load_torch(self, state):
        renamed = {"W_o." + name.split(".")[1]: value for name, value in state.items() if name.startswith("out_proj")}
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in state:
                for name, part in zip("qkv", torch.tensor_split(state[f"in_proj_{kind}"], 3), strict=True):
                    renamed[f"W_{name}.{kind}"] = part
        return self.load_state_dict(renamed)


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


# -- its size --------------------------------------------------------------------------------------------------------


def count_in_a_layer(d_model, n_heads, bias):
    return sum(parameter.numel() for parameter in LayerByStateDict(d_model, n_heads, bias).parameters())


def count_head_by_head(d_model, n_heads, bias):
    d, rest = divmod(d_model, n_heads)
    if rest:
        raise ValueError(rest)
    one_head = 3 * d * (d_model + (1 if bias else 0))
    return n_heads * one_head + d_model * d_model + (d_model if bias else 0)


def count_as_a_float(d_model, n_heads, bias):
    if d_model % n_heads:
        raise ValueError
    return 4.0 * (d_model**2 + d_model * bool(bias))


# -- the task --------------------------------------------------------------------------------------------------------


def looks_twice(names, numbers, friends, rivals):
    """What two heads learn, as tables."""
    one_hot = F.one_hot(numbers, 10).double()
    found = [(whom[:, :, None] == names[:, None]).double() @ one_hot for whom in (friends, rivals)]
    return torch.stack(found, 2)


def asks_dictionaries(names, numbers, friends, rivals):
    rows = []
    for name, number, friend, rival in zip(*(x.tolist() for x in (names, numbers, friends, rivals)), strict=True):
        wears = dict(zip(name, number, strict=True))
        rows.append([[wears[f], wears[r]] for f, r in zip(friend, rival, strict=True)])
    return 9.0 * F.one_hot(torch.tensor(rows), 10).float() - 3.0


ALTERNATIVES = {
    "split_heads": [split_by_chunks, split_by_einops, split_by_view_and_permute, split_by_unfolding, split_by_slices],
    "merge_heads": [merge_by_cat, merge_by_einops, merge_by_view, merge_word_by_word],
    "multi_head_attention": [
        attention_head_by_head,
        attention_by_einops,
        attention_with_heads_folded_into_the_batch,
        attention_with_an_additive_mask,
        attention_with_float32_constants,
        attention_without_queries_keys_or_values,
        attention_to_draw,
    ],
    "MultiHeadAttention": [LayerWithAColumnOfOnes, LayerByStateDict, LayerWithNewParameters, LayerOfADict],
    "multi_head_parameters": [count_in_a_layer, count_head_by_head, count_as_a_float],
    "multi_head_attention_task": [looks_twice, asks_dictionaries],
}
