"""Wrong answers to `multi_head_attention` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from course.reference.multi_head_attention import merge_heads, split_heads
from tests.hidden.mutants.multi_head_attention.scaffold import demand_whole_heads


def _att(q, k, v, m=None):
    scores = q @ k.mT / math.sqrt(q.size(-1))
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


def _in_turns(x, h):
    demand_whole_heads(x.shape[-1], h)
    return x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2)


def _mutant(name, split=split_heads, attend=_att, merge=merge_heads):
    def mutant(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        found, weights = attend(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads, split), mask)
        return merge(found) @ W_o.T, weights

    mutant.__name__ = name
    return mutant


def _weighing(name, weigh):
    """A mutant whose weights are `weigh(scores before scaling, root, mask)`."""

    def attend(q, k, v, m):
        weights = weigh(q @ k.mT, math.sqrt(q.size(-1)), m)
        return weights @ v, weights

    return _mutant(name, attend=attend)


def _filled(scores, m, value=-1e9):
    return scores if m is None else scores.masked_fill(~m, value)


def one_head(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    demand_whole_heads(x_q.shape[-1], n_heads)
    mask = None if mask is None else mask.expand(len(x_q), n_heads, -1, -1)[:, 0]
    out, weights = _att(x_q @ W_q.T, x_kv @ W_k.T, x_kv @ W_v.T, mask)
    return out @ W_o.T, weights[:, None].expand(-1, n_heads, -1, -1)


def words_split_before_they_are_projected(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Every head reads its own share of the word, through one small matrix for all."""
    d = x_q.shape[-1] // n_heads
    q, k, v = (split_heads(x, n_heads) @ W[:d, :d].T for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
    out, weights = _att(q, k, v, mask)
    return merge_heads(out) @ W_o.T, weights


def words_projected_in_blocks(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Every head reads its own share of the word, through a matrix of its own."""
    demand_whole_heads(x_q.shape[-1], n_heads)
    d = x_q.shape[-1] // n_heads
    blocks = torch.block_diag(*[torch.ones(d, d)] * n_heads)
    W_q, W_k, W_v = (W * blocks.to(W) for W in (W_q, W_k, W_v))
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def mask_without_its_head_axis(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """The mask's sentences line up with the heads: an error, or silent where B = h."""
    mask = mask[:, 0] if mask is not None and mask.ndim == 4 else mask
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_k, W_v, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def mask_tiled(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Heads folded into the batch, the mask tiled instead of repeated: every head wears another sentence's mask."""
    q, k, v = _projected(x_q, x_kv, W_q, W_k, W_v, n_heads)
    B, h, T, S = len(q), n_heads, q.shape[2], k.shape[2]
    if mask is not None:
        mask = mask.expand(B, h, T, S)[:, 0].repeat(h, 1, 1)
    found, weights = _att(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), mask)
    return merge_heads(found.unflatten(0, (B, h))) @ W_o.T, weights.unflatten(0, (B, h))


def matrices_in_another_order(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = _att(*_projected(x_q, x_kv, W_k, W_v, W_q, n_heads), mask)
    return merge_heads(out) @ W_o.T, weights


def keys_and_values_exchanged(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = _att(*_projected(x_q, x_kv, W_q, W_v, W_k, n_heads), mask)
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
    _mutant("split_and_merged_by_reshaping", split=_view, merge=_unview),
    _mutant("heads_in_turns", split=_in_turns, merge=lambda y: y.permute(0, 2, 3, 1).flatten(2)),
    _mutant("mean_of_the_heads", merge=lambda y: y.mean(1).repeat(1, 1, y.shape[1])),
    _mutant("one_share_for_all_heads", split=lambda x, h: split_heads(x, h)[:, :1].expand(-1, h, -1, -1)),
    _mutant("queries_for_keys", attend=lambda q, k, v, m: _att(k, q, v, m)),
    _weighing("scaled_by_d", lambda s, r, m: _filled(s / r**2, m).softmax(-1)),
    _weighing("scaled_after_the_softmax", lambda s, r, m: _filled(s, m).softmax(-1) / r),
    _weighing("multiplied_by_the_root", lambda s, r, m: _filled(s * r, m).softmax(-1)),
    _weighing("softmax_over_the_heads", lambda s, r, m: _filled(s / r, m, -1e30).softmax(1)),
    _weighing("softmax_over_queries_and_filled", lambda s, r, m: _filled(s / r, m).softmax(-2)),
    _weighing("masked_with_zero", lambda s, r, m: _filled(s / r, m, 0.0).softmax(-1)),
    _weighing("masked_after_the_softmax", lambda s, r, m: _filled((s / r).softmax(-1), m, 0.0)),
    _weighing("masked_with_a_small_number", lambda s, r, m: _filled(s / r, m, -10.0).softmax(-1)),
    _weighing("masked_before_scaling", lambda s, r, m: (_filled(s, m, -20.0) / r).softmax(-1)),
    _weighing("mask_transposed", lambda s, r, m: _filled(s / r, None if m is None else m.mT).softmax(-1)),
    _weighing("the_best_alone", lambda s, r, m: F.one_hot(_filled(s, m).argmax(-1), s.size(-1)).to(s) + 0 * s),
    _weighing("mean", lambda s, r, m: _filled(0 * s, m).softmax(-1)),
    _weighing("smoothed", lambda s, r, m: (e := _filled(s / r, m).exp() + 1e-3) / e.sum(-1, keepdim=True)),
    *(one_head, words_split_before_they_are_projected, words_projected_in_blocks),
    *(mask_without_its_head_axis, mask_tiled, mask_of_the_first_head_for_all, empty_rows_opened_in_the_mask),
    *(matrices_in_another_order, keys_and_values_exchanged, values_of_the_askers_where_they_fit),
    *(weights_detached, scores_instead_of_weights),
]
