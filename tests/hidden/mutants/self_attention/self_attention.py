"""Wrong answers to `self_attention` that no misconception knows by name."""

from __future__ import annotations

import math

from torch.nn import functional as F

from tests.hidden.mutants.self_attention.scaffold import (
    _attention,
    bare_exponentials,
    multiplied,
    no_scale,
    normalised_without_exponential,
    reshaped_keys,
    scale_after_softmax,
    scale_by_d,
    scale_by_T,
    softmax_over_batch,
    softmax_query_dim,
)


def _projected(x, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


def s_noscale(x, *W):
    return no_scale(*_projected(x, *W))[0]


def s_div_d(x, *W):
    return scale_by_d(*_projected(x, *W))[0]


def s_scale_dmodel(x, *W):
    q, k, v = _projected(x, *W)
    return (q @ k.mT / math.sqrt(x.size(-1))).softmax(-1) @ v


def s_scale_T(x, *W):
    return scale_by_T(*_projected(x, *W))[0]


def s_scale_after(x, *W):
    return scale_after_softmax(*_projected(x, *W))[0]


def s_mul(x, *W):
    return multiplied(*_projected(x, *W))[0]


def s_dim_q(x, *W):
    return softmax_query_dim(*_projected(x, *W))[0]


def s_dim0(x, *W):
    return softmax_over_batch(*_projected(x, *W))[0]


def s_kq(x, W_q, W_k, W_v):
    return _attention(*_projected(x, W_k, W_q, W_v))


def s_v_is_x(x, W_q, W_k, W_v):
    return _attention(x @ W_q.T, x @ W_k.T, x)


def s_v_is_k(x, W_q, W_k, W_v):
    return _attention(*_projected(x, W_q, W_k, W_k))


def s_tied_qk(x, W_q, W_k, W_v):
    return _attention(*_projected(x, W_q, W_q, W_v))


def s_reshape_T(x, *W):
    return reshaped_keys(*_projected(x, *W))[0]


def s_no_softmax(x, *W):
    return normalised_without_exponential(*_projected(x, *W))[0]


def s_residual(x, W_q, W_k, W_v):
    out = _attention(*_projected(x, W_q, W_k, W_v))
    shared = min(out.shape[-1], x.shape[-1])
    return out + F.pad(x[..., :shared], (0, out.shape[-1] - shared))


def s_unstable(x, *W):
    return bare_exponentials(*_projected(x, *W))[0]


def s_not_transposed(x, W_q, W_k, W_v):
    return _attention(x @ W_q, x @ W_k, x @ W_v)


def s_values_not_transposed(x, W_q, W_k, W_v):
    return _attention(x @ W_q.T, x @ W_k.T, x @ W_v)


def s_no_projections(x, W_q, W_k, W_v):
    return _attention(x, x, x)


MUTANTS = [
    s_noscale,
    s_div_d,
    s_scale_dmodel,
    s_scale_T,
    s_scale_after,
    s_mul,
    s_dim_q,
    s_dim0,
    s_kq,
    s_v_is_x,
    s_v_is_k,
    s_tied_qk,
    s_reshape_T,
    s_no_softmax,
    s_residual,
    s_unstable,
    s_not_transposed,
    s_values_not_transposed,
    s_no_projections,
]
