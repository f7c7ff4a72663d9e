"""Wrong answers to topic 06 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

# -- softmax ---------------------------------------------------------------------------------------------------------


def _softmax(x: Tensor, dim: int) -> Tensor:
    """Ours, not torch's: a mutant must fall by its values and not by a forbidden call."""
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def shifted_by_the_minimum(x, dim):
    exponentials = (x - x.amin(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def base_two(x, dim):
    powers = 2.0 ** (x - x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


def squeezed(x, dim):
    """An axis of one is lost."""
    return _softmax(x, dim).squeeze()


def always_float32(x, dim):
    return _softmax(x.float(), dim)


def graph_cut(x, dim):
    return _softmax(x.detach(), dim)


def shifted_in_place(x, dim):
    x -= x.amax(dim, keepdim=True)
    return _softmax(x, dim)


def normalised_by_the_largest(x, dim):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.amax(dim, keepdim=True)


def negative_axes_misread(x, dim):
    return _softmax(x, abs(dim) % x.ndim)


def hardened(x, dim):
    return F.one_hot(x.argmax(dim), x.shape[dim]).movedim(-1, dim).to(x.dtype) + 0 * x


def smoothed_denominator(x, dim):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-3)


# -- one word --------------------------------------------------------------------------------------------------------


def exponentials_alone(query, keys, values):
    return (keys @ query / len(query) ** 0.5).exp() @ values


def multiplied_for_one(query, keys, values):
    return torch.softmax(keys @ query * len(query) ** 0.5, 0) @ values


def cosine_scores(query, keys, values):
    return torch.softmax(F.cosine_similarity(keys, query[None], dim=1), 0) @ values


def unweighted_sum(query, keys, values):
    return values.sum(0) + 0 * (keys @ query).sum()


def mean_for_sum(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, 0) @ values / len(keys)


def bare_exponentials_for_one(query, keys, values):
    exponentials = (keys @ query / len(query) ** 0.5).exp()
    return exponentials / exponentials.sum() @ values


def output_and_weights(query, keys, values):
    weights = torch.softmax(keys @ query / len(query) ** 0.5, 0)
    return weights @ values, weights


# -- all words at once: the catalogue's attentions without masks -----------------------------------------------------


def _weighted(weights: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return weights @ v, weights


def _attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1) @ v


def no_scale(q, k, v):
    return _weighted((q @ k.mT).softmax(-1), v)


def scale_by_d(q, k, v):
    return _weighted((q @ k.mT / q.size(-1)).softmax(-1), v)


def scale_after_softmax(q, k, v):
    return _weighted((q @ k.mT).softmax(-1) / math.sqrt(q.size(-1)), v)


def softmax_query_dim(q, k, v):
    return _weighted((q @ k.mT / math.sqrt(q.size(-1))).softmax(-2), v)


def kq_swapped(q, k, v):
    return _weighted((k @ q.mT / math.sqrt(q.size(-1))).softmax(-1), v)


def hardmax(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return _weighted(F.one_hot(scores.argmax(-1), scores.size(-1)).to(v), v)


def mean_v(q, k, v):
    return _weighted((0 * (q @ k.mT)).softmax(-1), v)


def scale_by_T(q, k, v):
    return _weighted((q @ k.mT / math.sqrt(q.size(1))).softmax(-1), v)


def multiplied(q, k, v):
    return _weighted((q @ k.mT * math.sqrt(q.size(-1))).softmax(-1), v)


def softmax_over_batch(q, k, v):
    return _weighted((q @ k.mT / math.sqrt(q.size(-1))).softmax(0), v)


def reshaped_keys(q, k, v):
    B, S, D = k.shape
    return _weighted((q @ k.reshape(B, D, S) / math.sqrt(D)).softmax(-1), v)


def normalised_without_exponential(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return _weighted(scores / scores.sum(-1, keepdim=True), v)


def bare_exponentials(q, k, v):
    exponentials = (q @ k.mT / math.sqrt(q.size(-1))).exp()
    return _weighted(exponentials / exponentials.sum(-1, keepdim=True), v)


def weights_cut_from_the_output(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights.detach() @ v, weights


def query_scaled_in_place(q, k, v):
    q /= math.sqrt(q.size(-1))
    return _weighted((q @ k.mT).softmax(-1), v)


def one_batch_for_all(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v[:1].expand_as(v), weights


def output_alone(q, k, v):
    return _attention(q, k, v)


def float32_inside(q, k, v):
    weights = (q.float() @ k.float().mT / math.sqrt(q.size(-1))).softmax(-1)
    return weights @ v.float(), weights


def dropout_left_on(q, k, v):
    weights = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    return F.dropout(weights, 0.1) @ v, weights


def causal(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return _weighted(scores.masked_fill(future, -1e9).softmax(-1), v)


# -- self-attention: the catalogue's rows, weights as (out, in) ------------------------------------------------------


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


# -- costs, order, task ----------------------------------------------------------------------------------------------


def same_for_both(n, d):
    return {"self_attention": n * n * d, "recurrent": n * n * d}


def other_names(n, d):
    return {"attention": n * n * d, "rnn": n * d * d}


def a_pair(n, d):
    return n * n * d, n * d * d


def in_logarithms(n, d):
    return {"self_attention": math.log(n * n * d), "recurrent": math.log(n * d * d)}


def reciprocal(d):
    return 1 / d


def one_more(d):
    return d + 1


def fixed_at_512(d):
    return 512.0


def ten_times_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-3)


def relatively_close(fn, x, permutation):
    """Beside an output that is nearly zero, no difference is small."""
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], rtol=1e-4)


def always_yes(fn, x, permutation):
    return True


def always_no(fn, x, permutation):
    return False


def reorders_the_output_only(fn, x, permutation):
    return torch.allclose(fn(x)[:, permutation], fn(x), atol=1e-4)


def permutes_the_batch(fn, x, permutation):
    order = permutation[: len(x)].argsort()
    return torch.allclose(fn(x[order]), fn(x)[order], atol=1e-4)


def permutes_the_features(fn, x, permutation):
    return torch.allclose(fn(x.flip(2)), fn(x).flip(2), atol=1e-4)


def looks_at_one_word(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation[-1]], atol=1e-1)


def looks_at_one_number(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).mean().abs() < 1e-4)


def a_tensor_of_answers(fn, x, permutation):
    return torch.isclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-4)


def answers_with_the_first_pair(keys, values, query):
    return F.one_hot(values[:, 0], 10).float()


def repeats_the_query(keys, values, query):
    return F.one_hot(query % 10, 10).float()


def names_the_largest_digit(keys, values, query):
    return F.one_hot(values.amax(1), 10).float()


def looks_up_half_of_the_time(keys, values, query):
    """Right for the first half of the list only."""
    found = (keys == query[:, None]).float()
    found[:, keys.shape[1] // 2 :] = 0
    return torch.einsum("bs,bsv->bv", found, F.one_hot(values, 10).float())


MUTANTS = {
    "softmax": [
        shifted_by_the_minimum,
        base_two,
        squeezed,
        always_float32,
        graph_cut,
        shifted_in_place,
        normalised_by_the_largest,
        negative_axes_misread,
        hardened,
        smoothed_denominator,
    ],
    "attention_for_one": [
        exponentials_alone,
        multiplied_for_one,
        cosine_scores,
        unweighted_sum,
        mean_for_sum,
        bare_exponentials_for_one,
        output_and_weights,
    ],
    "scaled_dot_product_attention": [
        no_scale,
        scale_by_d,
        scale_after_softmax,
        softmax_query_dim,
        kq_swapped,
        hardmax,
        mean_v,
        scale_by_T,
        multiplied,
        softmax_over_batch,
        reshaped_keys,
        normalised_without_exponential,
        bare_exponentials,
        weights_cut_from_the_output,
        query_scaled_in_place,
        one_batch_for_all,
        output_alone,
        float32_inside,
        dropout_left_on,
        causal,
    ],
    "self_attention": [
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
    ],
    "attention_cost": [same_for_both, other_names, a_pair, in_logarithms],
    "crossover_length": [reciprocal, one_more, fixed_at_512],
    "is_permutation_equivariant": [
        ten_times_too_tolerant,
        relatively_close,
        always_yes,
        always_no,
        reorders_the_output_only,
        permutes_the_batch,
        permutes_the_features,
        looks_at_one_word,
        looks_at_one_number,
        a_tensor_of_answers,
    ],
    "self_attention_task": [
        answers_with_the_first_pair,
        repeats_the_query,
        names_the_largest_digit,
        looks_up_half_of_the_time,
    ],
}

WITHOUT_COUNTERPART = {
    "s_dim1_default": "the same function as s_dim_q under another name",
    "mask_inverted": "no mask here: topic 09",
    "mask_zero": "no mask here: topic 09",
    "mask_mult": "no mask here: topic 09",
    "mask_after_softmax": "no mask here: topic 09",
    "mask_small_neg": "no mask here: topic 09",
    "mask_transposed": "no mask here: topic 09",
    "mask_before_scale_finite": "no mask here: topic 09",
    "ignore_mask": "no mask here: topic 09",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
