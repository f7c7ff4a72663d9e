"""Wrong answers to topic 07 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.reference.multi_head_attention import MultiHeadAttention, merge_heads, split_heads

# -- splitting and merging -------------------------------------------------------------------------------------------


def _check(D, h):
    if D % h:
        raise ValueError("no")


def split_transposed_as_a_matrix(x, n_heads):
    _check(x.shape[-1], n_heads)
    B, T, D = x.shape
    return x.mT.reshape(B, n_heads, T, D // n_heads)


def split_heads_backwards(x, n_heads):
    return split_heads(x, n_heads).flip(1)


def split_over_the_batch(x, n_heads):
    _check(x.shape[-1], n_heads)
    B, T, D = x.shape
    return x.reshape(n_heads, B, T, D // n_heads).transpose(0, 1)


def split_padded(x, n_heads):
    """Zeros where the width does not suffice, instead of an error."""
    return split_heads(F.pad(x, (0, -x.shape[-1] % n_heads)), n_heads)


def split_in_float32(x, n_heads):
    return split_heads(x.float(), n_heads)


def split_detached(x, n_heads):
    return split_heads(x.detach(), n_heads)


def merge_time_before_batch(x):
    return merge_heads(x).transpose(0, 1)


def merge_columns_first(x):
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], x.shape[2], -1)


def merge_transposed_wrongly(x):
    return x.transpose(2, 3).transpose(1, 3).flatten(2)


def merge_largest(x):
    return x.amax(1, keepdim=True).expand_as(x).transpose(1, 2).flatten(2)


def merge_first_head_only(x):
    return x[:, :1].expand_as(x).transpose(1, 2).flatten(2)


# -- attention: the catalogue's rows for this topic ------------------------------------------------------------------


def _att(q, k, v, m=None, root=None):
    scores = q @ k.mT / (root or math.sqrt(q.size(-1)))
    if m is None:
        weights = scores.softmax(-1)
    else:
        weights = scores.masked_fill(~m, -1e30).softmax(-1).masked_fill(~m, 0.0)
    return weights @ v, weights


def _projected(x_q, x_kv, W_q, W_k, W_v, h, split=split_heads):
    return split(x_q @ W_q.T, h), split(x_kv @ W_k.T, h), split(x_kv @ W_v.T, h)


def _view(x, h):
    _check(x.shape[-1], h)
    return x.reshape(len(x), h, -1, x.shape[-1] // h)


def _unview(y):
    return y.reshape(y.shape[0], y.shape[2], -1)


def _mutant(name, split=split_heads, attend=_att, merge=merge_heads, out=True):
    def mutant(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        found, weights = attend(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads, split), mask)
        return (merge(found) @ W_o.T if out else merge(found)), weights

    mutant.__name__ = name
    return mutant


m_viewsplit = _mutant("m_viewsplit", split=_view)
m_viewsplit2 = _mutant("m_viewsplit2", split=_view, merge=_unview)
m_merge_noT = _mutant("m_merge_noT", merge=_unview)
m_scaleD = _mutant("m_scaleD", attend=lambda q, k, v, m: _att(q, k, v, m, math.sqrt(q.shape[1] * q.shape[-1])))
m_noscale = _mutant("m_noscale", attend=lambda q, k, v, m: _att(q, k, v, m, 1.0))
m_noWo = _mutant("m_noWo", out=False)
m_avg = _mutant("m_avg", merge=lambda y: y.mean(1).repeat(1, 1, y.shape[1]))
m_sharedhead = _mutant("m_sharedhead", split=lambda x, h: split_heads(x, h)[:, :1].expand(-1, h, -1, -1))


def m_onehead(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    _check(x_q.shape[-1], n_heads)
    mask = None if mask is None else mask.expand(len(x_q), n_heads, -1, -1)[:, 0]
    out, weights = _att(x_q @ W_q.T, x_kv @ W_k.T, x_kv @ W_v.T, mask)
    return out @ W_o.T, weights[:, None].expand(-1, n_heads, -1, -1)


def m_split_input(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Every head reads its own share of the word, through one small matrix for all."""
    d = x_q.shape[-1] // n_heads
    q, k, v = (split_heads(x, n_heads) @ W[:d, :d].T for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    out, weights = _att(q, k, v, mask)
    return merge_heads(out) @ W_o.T, weights


def m_split_input_in_blocks(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Every head reads its own share of the word, through a matrix of its own."""
    _check(x_q.shape[-1], n_heads)
    blocks = [torch.block_diag(*(torch.ones(W.shape[0] // n_heads, W.shape[0] // n_heads),) * n_heads) for W in [W_q]]
    W_q, W_k, W_v = (W * blocks[0].to(W) for W in (W_q, W_k, W_v))
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


m_interleave = _mutant(
    "m_interleave",
    split=lambda x, h: (_check(x.shape[-1], h), x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2))[1],
    merge=lambda y: y.permute(0, 2, 3, 1).flatten(2),
)


def _softmax_heads(q, k, v, m):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = (scores if m is None else scores.masked_fill(~m, -1e30)).softmax(1)
    return weights @ v, weights


m_softmax_heads = _mutant("m_softmax_heads", attend=_softmax_heads)


def m_mask_bcast(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The mask's head axis is dropped, so its sentences line up with the heads: an error, or silent where B = h."""
    mask = mask[:, 0] if mask is not None and mask.ndim == 4 else mask
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def m_mask_rep(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Heads folded into the batch, the mask tiled instead of repeated: every head wears another sentence's mask."""
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    B, h, T, S = len(q), n_heads, q.shape[2], k.shape[2]
    if mask is not None:
        mask = mask.expand(B, h, T, S)[:, 0].repeat(h, 1, 1)
    found, weights = _att(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), mask)
    return merge_heads(found.unflatten(0, (B, h))) @ W_o.T, weights.unflatten(0, (B, h))


def m_qkv_order(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = _att(*_projected(x_q, x_kv, W_k, W_v, W_q, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def m_kv_swap(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_v, W_k, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


m_nomask = _mutant("m_nomask", attend=lambda q, k, v, m: _att(q, k, v))

# -- attention: the catalogue's attentions with masks, inside the heads ----------------------------------------------


def _inner(weigh):
    """An attention whose weights are `weigh(scores before scaling, root, mask)`."""

    def attend(q, k, v, m):
        weights = weigh(q @ k.mT, math.sqrt(q.size(-1)), m)
        return weights @ v, weights

    return attend


def _filled(scores, m, value=-1e9):
    return scores if m is None else scores.masked_fill(~m, value)


no_scale = _mutant("no_scale", attend=_inner(lambda s, r, m: _filled(s, m).softmax(-1)))
scale_by_d = _mutant("scale_by_d", attend=_inner(lambda s, r, m: _filled(s / r**2, m).softmax(-1)))
scale_after_softmax = _mutant("scale_after_softmax", attend=_inner(lambda s, r, m: _filled(s, m).softmax(-1) / r))
softmax_query_dim = _mutant("softmax_query_dim", attend=_inner(lambda s, r, m: _filled(s / r, m).softmax(-2)))
mask_inverted = _mutant(
    "mask_inverted", attend=_inner(lambda s, r, m: _filled(s / r, None if m is None else ~m).softmax(-1))
)
mask_zero = _mutant("mask_zero", attend=_inner(lambda s, r, m: _filled(s / r, m, 0.0).softmax(-1)))
mask_mult = _mutant("mask_mult", attend=_inner(lambda s, r, m: (s / r if m is None else s / r * m).softmax(-1)))
mask_after_softmax = _mutant("mask_after_softmax", attend=_inner(lambda s, r, m: _filled((s / r).softmax(-1), m, 0.0)))
mask_small_neg = _mutant("mask_small_neg", attend=_inner(lambda s, r, m: _filled(s / r, m, -10.0).softmax(-1)))
mask_transposed = _mutant(
    "mask_transposed", attend=_inner(lambda s, r, m: _filled(s / r, None if m is None else m.mT).softmax(-1))
)
mask_before_scale_finite = _mutant(
    "mask_before_scale_finite", attend=_inner(lambda s, r, m: (_filled(s, m, -20.0) / r).softmax(-1))
)
ignore_mask = _mutant("ignore_mask", attend=_inner(lambda s, r, m: (s / r).softmax(-1)))
hardmax = _mutant(
    "hardmax", attend=_inner(lambda s, r, m: F.one_hot(_filled(s, m).argmax(-1), s.size(-1)).to(s) + 0 * s)
)
mean_v = _mutant("mean_v", attend=_inner(lambda s, r, m: _filled(0 * s, m).softmax(-1)))
multiplied_by_the_root = _mutant("multiplied_by_the_root", attend=_inner(lambda s, r, m: _filled(s * r, m).softmax(-1)))
overflowing = _mutant(
    "overflowing",
    attend=_inner(lambda s, r, m: (e := _filled((s / r), m, -1e9).exp() + 1e-3) / e.sum(-1, keepdim=True)),
)


def kq_swapped(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    out, weights = _att(k, q, v, mask)
    return merge_heads(out) @ W_o.T, weights


def weights_detached(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    _, weights = _att(q, k, v, mask)
    return merge_heads(weights.detach() @ v) @ W_o.T, weights


def values_of_the_askers_where_they_fit(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    v = split_heads(x_q @ W_v.T, n_heads) if x_q.shape == x_kv.shape else v
    out, weights = _att(q, k, v, mask)
    return merge_heads(out) @ W_o.T, weights


def mask_of_the_first_head_for_all(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    mask = mask[:, :1] if mask is not None and mask.ndim == 4 else mask
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def empty_rows_opened_in_the_mask(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    if mask is not None:
        mask[~mask.any(-1)] = True
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def scores_instead_of_weights(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    out, _ = _att(q, k, v, mask)
    return merge_heads(out) @ W_o.T, q @ k.mT / math.sqrt(q.shape[-1])


# -- the layer -------------------------------------------------------------------------------------------------------


class DropsInTraining(MultiHeadAttention):
    """A tenth of what comes out, as in the Transformer's own layers; nobody asked this one."""

    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return F.dropout(out, 0.1, self.training), weights


class DropsQueriesInTraining(MultiHeadAttention):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.drop = nn.Dropout(0.1)

    def forward(self, x_q, x_kv, mask=None):
        return super().forward(self.drop(x_q), x_kv, mask)


class KeepsTheStateItself(MultiHeadAttention):
    """Loads tensors where parameters were: nothing learns any more."""

    def load_torch(self, state):
        for letter, weight in zip("qkv", state["in_proj_weight"].chunk(3), strict=True):
            layer = getattr(self, f"W_{letter}")
            del layer.weight
            layer.weight = weight
        del self.W_o.weight
        self.W_o.weight = state["out_proj.weight"]
        for letter, bias in zip("qkv", state.get("in_proj_bias", torch.zeros(0)).chunk(3), strict=False):
            getattr(self, f"W_{letter}").bias.data.copy_(bias) if len(bias) else None
        if "out_proj.bias" in state:
            self.W_o.bias.data.copy_(state["out_proj.bias"])


class NeedsBiases(MultiHeadAttention):
    """load_torch fails on a state without biases."""

    def load_torch(self, state):
        state["in_proj_bias"]
        return super().load_torch(state)


class OneLayerForKeysAndValues(MultiHeadAttention):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads, bias)
        self.W_v = self.W_k


class NoGradientForItsWords(MultiHeadAttention):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv.detach(), mask)


class LooksOneHeadAtATime(MultiHeadAttention):
    """An extra axis in the mask, as for a mask (B, T, S)."""

    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv, None if mask is None else mask[:, None])


class OutputAlone(MultiHeadAttention):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv, mask)[0]


class OtherNames(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads, bias)

    def forward(self, x_q, x_kv, mask=None):
        return self.attention(x_q, x_kv, mask)

    def load_torch(self, state):
        self.attention.load_torch(state)


# -- its size --------------------------------------------------------------------------------------------------------


def three_matrices_and_a_share(d_model, n_heads, bias):
    _check(d_model, n_heads)
    return (3 * d_model + d_model // n_heads) * (d_model + bias)


def square_of_everything(d_model, n_heads, bias):
    _check(d_model, n_heads)
    return (4 * d_model) ** 2 + 4 * d_model * bias


def one_bias_a_layer(d_model, n_heads, bias):
    _check(d_model, n_heads)
    return 4 * d_model * d_model + 4 * bias


MUTANTS = {
    "split_heads": [
        split_transposed_as_a_matrix,
        split_heads_backwards,
        split_over_the_batch,
        split_padded,
        split_in_float32,
        split_detached,
    ],
    "merge_heads": [
        merge_time_before_batch,
        merge_columns_first,
        merge_transposed_wrongly,
        merge_largest,
        merge_first_head_only,
    ],
    "multi_head_attention": [
        *(m_viewsplit, m_viewsplit2, m_merge_noT, m_scaleD, m_noscale, m_onehead, m_noWo, m_avg, m_sharedhead),
        *(m_split_input, m_split_input_in_blocks, m_interleave, m_softmax_heads, m_mask_bcast, m_mask_rep),
        *(m_qkv_order, m_kv_swap, m_nomask),
        *(no_scale, scale_by_d, scale_after_softmax, softmax_query_dim, mask_inverted, mask_zero, mask_mult),
        *(mask_after_softmax, mask_small_neg, mask_transposed, mask_before_scale_finite, kq_swapped, ignore_mask),
        *(hardmax, mean_v, multiplied_by_the_root, overflowing, weights_detached, scores_instead_of_weights),
        *(values_of_the_askers_where_they_fit, mask_of_the_first_head_for_all, empty_rows_opened_in_the_mask),
    ],
    "MultiHeadAttention": [
        DropsInTraining,
        DropsQueriesInTraining,
        KeepsTheStateItself,
        NeedsBiases,
        OneLayerForKeysAndValues,
        NoGradientForItsWords,
        LooksOneHeadAtATime,
        OutputAlone,
        OtherNames,
    ],
    "multi_head_parameters": [three_matrices_and_a_share, square_of_everything, one_bias_a_layer],
}

WITHOUT_COUNTERPART = {
    "GQA repeat for repeat_interleave": "grouped queries are not taught: every head has keys and values of its own",
    "KV cache: mask aligned top-left, stale cache, positions restart": "nothing is decoded step by step here",
}
