"""Wrong answers to `multi_head_attention` that no misconception knows by name."""

from __future__ import annotations

from course.reference.multi_head_attention import attend_in_heads, multi_head_attention


def mask_without_its_head_axis(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Broadcast the mask's batch axis against the heads, which raises an error unless B = h."""
    mask = mask[:, 0] if mask is not None and mask.ndim == 4 else mask
    return multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)


def mask_tiled(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    """Tile the mask over heads folded into the batch in place of repeating it, so that heads get other rows' masks."""
    if mask is not None:
        B, T, S = len(x_q), x_q.shape[1], x_kv.shape[1]
        mask = mask.expand(B, n_heads, T, S)[:, 0].repeat(n_heads, 1, 1).unflatten(0, (B, n_heads))
    return multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)


def mask_of_the_first_head_for_all(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    mask = mask[:, :1] if mask is not None and mask.ndim == 4 else mask
    return multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)


def values_of_the_askers_where_they_fit(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    values = x_q if x_q.shape == x_kv.shape else x_kv
    found, weights = attend_in_heads(x_q @ W_q.T, x_kv @ W_k.T, values @ W_v.T, n_heads, mask)
    return found @ W_o.T, weights


MUTANTS = [
    mask_without_its_head_axis,
    mask_tiled,
    mask_of_the_first_head_for_all,
    values_of_the_askers_where_they_fit,
]
