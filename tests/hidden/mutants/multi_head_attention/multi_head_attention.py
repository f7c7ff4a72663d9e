"""Wrong answers to `multi_head_attention` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from course.reference.multi_head_attention import merge_heads, split_heads
from tests.hidden.mutants.multi_head_attention.scaffold import demand_whole_heads


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
    demand_whole_heads(x.shape[-1], h)
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
    demand_whole_heads(x_q.shape[-1], n_heads)
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
    demand_whole_heads(x_q.shape[-1], n_heads)
    blocks = [torch.block_diag(*(torch.ones(W.shape[0] // n_heads, W.shape[0] // n_heads),) * n_heads) for W in [W_q]]
    W_q, W_k, W_v = (W * blocks[0].to(W) for W in (W_q, W_k, W_v))
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


m_interleave = _mutant(
    "m_interleave",
    split=lambda x, h: (demand_whole_heads(x.shape[-1], h), x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2))[1],
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


MUTANTS = [
    *(m_viewsplit, m_viewsplit2, m_merge_noT, m_scaleD, m_noscale, m_onehead, m_noWo, m_avg, m_sharedhead),
    *(m_split_input, m_split_input_in_blocks, m_interleave, m_softmax_heads, m_mask_bcast, m_mask_rep),
    *(m_qkv_order, m_kv_swap, m_nomask),
    *(no_scale, scale_by_d, scale_after_softmax, softmax_query_dim, mask_inverted, mask_zero, mask_mult),
    *(mask_after_softmax, mask_small_neg, mask_transposed, mask_before_scale_finite, kq_swapped, ignore_mask),
    *(hardmax, mean_v, multiplied_by_the_root, overflowing, weights_detached, scores_instead_of_weights),
    *(values_of_the_askers_where_they_fit, mask_of_the_first_head_for_all, empty_rows_opened_in_the_mask),
]
