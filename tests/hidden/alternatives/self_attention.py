"""Right answers to topic 06 that look nothing like the reference."""

from __future__ import annotations

import math
from functools import reduce

import einops
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

# -- softmax ---------------------------------------------------------------------------------------------------------


def softmax_by_logsumexp(x, dim):
    return (x - x.logsumexp(dim, keepdim=True)).exp()


def softmax_of_differences(x, dim):
    """1 / sum_j exp(x_j - x_i): no maximum at all; exp of a large difference is inf, and 1 / inf is 0."""
    x = x.movedim(dim, -1)
    # -inf - -inf is NaN, and an entry at -inf has no weight whatever the others are
    finite = torch.where(x == -math.inf, torch.full_like(x, -1e300 if x.dtype == torch.float64 else -1e38), x)
    return (1 / (finite[..., None, :] - finite[..., :, None]).exp().sum(-1)).movedim(-1, dim)


def softmax_slice_by_slice(x, dim):
    slices = []
    for piece in x.movedim(dim, -1).reshape(-1, x.shape[dim]):
        powers = torch.pow(math.e, piece - max(piece.detach()))
        slices.append(powers / sum(powers))
    moved = x.movedim(dim, -1)
    return torch.stack(slices).view(moved.shape).movedim(-1, dim)


# -- one word --------------------------------------------------------------------------------------------------------


def softmax_of_a_folded_sum(x, dim):
    total = reduce(torch.logaddexp, x.unbind(dim))
    return torch.exp(x - total.unsqueeze(dim))


def one_by_loops(query, keys, values):
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in keys]
    weights = torch.softmax(torch.stack(scores), dim=0)
    return sum(weight * value for weight, value in zip(weights, values, strict=True))


def one_by_einsum(query, keys, values):
    weights = F.softmax(torch.einsum("d,sd->s", query, keys) / query.numel() ** 0.5, dim=-1)
    return torch.einsum("s,se->e", weights, values)


def one_as_a_row(query, keys, values):
    scores = query.unsqueeze(0).matmul(keys.t()) * len(query) ** -0.5
    return torch.mm(nn.Softmax(dim=1)(scores), values).squeeze(0)


def one_with_float32_constants(query, keys, values):
    scores = (keys * query).sum(-1) / torch.sqrt(torch.tensor(float(len(query)), dtype=torch.float32)).item()
    scores = scores - scores.max()
    return (scores.exp()[:, None] * values).sum(0) / scores.exp().sum()


# -- all words at once -----------------------------------------------------------------------------------------------


def attention_by_einsum(q, k, v):
    """Half of the scale on each side."""
    root = q.shape[-1] ** 0.25
    scores = torch.einsum("btd,bsd->bts", q / root, k / root)
    scores = scores - scores.amax(-1, keepdim=True)
    weights = scores.exp() / scores.exp().sum(-1, keepdim=True)
    return torch.einsum("bts,bse->bte", weights, v), weights


def attention_by_loops(q, k, v):
    outputs, weights = [], []
    for queries, keys, values in zip(q, k, v, strict=True):
        rows = [torch.softmax(torch.stack([query @ key for key in keys]) / len(query) ** 0.5, 0) for query in queries]
        weights.append(torch.stack(rows))
        outputs.append(torch.stack([sum(w * value for w, value in zip(row, values, strict=True)) for row in rows]))
    return torch.stack(outputs), torch.stack(weights)


def attention_by_einops(q, k, v):
    scores = einops.einsum(q, k, "batch query width, batch key width -> batch query key") / np.sqrt(q.shape[2])
    weights = nn.functional.softmax(scores, dim=2)
    return einops.einsum(weights, v, "batch query key, batch key width -> batch query width"), weights


def attention_by_bmm(q, k, v):
    """A tuple or a list, batched or not: two results are two results."""
    scores = torch.bmm(q.contiguous(), k.permute(0, 2, 1)).div(math.sqrt(k.size(-1)))
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return [weights.bmm(v), weights]


def attention_by_transposes(q, k, v):
    """Keys along the rows throughout, softmax over axis 1, and turned back at the end."""
    weights = torch.softmax(k @ q.mT * q.shape[-1] ** -0.5, dim=1)
    return (v.mT @ weights).mT, weights.mT


# -- self-attention --------------------------------------------------------------------------------------------------


def attention_to_draw(q, k, v):
    """The weights that come back are for the eye, and cut off."""
    weights = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), -1)
    return weights @ v, weights.detach()


def attention_under_vmap(q, k, v):
    def one(q, k, v):
        weights = torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1)
        return weights @ v, weights

    return torch.func.vmap(one)(q, k, v)


def self_by_linear(x, W_q, W_k, W_v):
    q, k, v = (F.linear(x, W) for W in (W_q, W_k, W_v))
    return torch.softmax(q @ k.transpose(1, 2) / math.sqrt(W_q.shape[0]), dim=-1) @ v


def self_with_one_matrix_for_scores(x, W_q, W_k, W_v):
    """W_q and W_k only ever meet as a product; and mixing first and projecting then is the same."""
    scores = x @ (W_q.T @ W_k) @ x.mT / W_q.shape[0] ** 0.5
    return scores.softmax(-1) @ x @ W_v.T


def self_sentence_by_sentence(x, W_q, W_k, W_v):
    outputs = []
    for words in x:
        keys, values = words @ W_k.T, words @ W_v.T
        outputs.append(torch.stack([one_by_einsum(W_q @ word, keys, values) for word in words]))
    return torch.stack(outputs)


def self_with_stacked_weights(x, W_q, W_k, W_v):
    widths = [len(W_q), len(W_k), len(W_v)]
    q, k, v = torch.cat([W_q, W_k, W_v]).matmul(x.mT).mT.split(widths, dim=-1)
    return attention_by_einsum(q, k, v)[0]


# -- costs -----------------------------------------------------------------------------------------------------------


def cost_in_powers(n, d):
    return {"self_attention": n**2 * d, "recurrent": n * d**2}


def cost_by_counting_sizes(n, d):
    pairs, matrix = torch.empty(n, n, device="meta"), torch.empty(d, d, device="meta")
    return {"recurrent": n * matrix.numel(), "self_attention": pairs.numel() * d}


def cost_in_floats(n, d):
    return {"self_attention": float(n) * n * d, "recurrent": float(n) * d * d}


def crossover_by_algebra(d):
    return float(d)


def crossover_as_an_integer(d):
    return d


def crossover_by_search(d):
    n = 1
    while n * n * d < n * d * d:
        n += 1
    return n


def crossover_by_division(d):
    return torch.tensor(d * d / d)


# -- order -----------------------------------------------------------------------------------------------------------


def order_by_largest_difference(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().max() < 1e-4)


def order_undone(fn, x, permutation):
    back = torch.argsort(permutation)
    return torch.allclose(fn(x[:, permutation])[:, back], fn(x), atol=1e-4)


def order_by_index_select(fn, x, permutation):
    one = fn(torch.index_select(x, 1, permutation))
    other = torch.index_select(fn(x), 1, permutation)
    return torch.isclose(one, other, rtol=0, atol=1e-4).all()


def order_as_numpy(fn, x, permutation):
    with torch.no_grad():
        one, other = fn(x[:, permutation]).numpy(), fn(x).numpy()[:, permutation.numpy()]
    return np.allclose(one, other, atol=1e-4)


# -- the task --------------------------------------------------------------------------------------------------------


def looks_up(keys, values, query):
    """What the layer learns, as a table."""
    found = (keys == query[:, None]).float()
    return torch.einsum("bs,bsv->bv", found, F.one_hot(values, 10).float())


def asks_dictionaries(keys, values, query):
    answers = [
        dict(zip(k.tolist(), v.tolist(), strict=True))[int(q)] for k, v, q in zip(keys, values, query, strict=True)
    ]
    return 10.0 * F.one_hot(torch.tensor(answers), 10).double() - 5.0


ALTERNATIVES = {
    "softmax": [
        softmax_by_logsumexp,
        softmax_of_differences,
        softmax_slice_by_slice,
        softmax_of_a_folded_sum,
    ],
    "attention_for_one": [one_by_loops, one_by_einsum, one_as_a_row, one_with_float32_constants],
    "scaled_dot_product_attention": [
        attention_by_einsum,
        attention_by_loops,
        attention_by_einops,
        attention_by_bmm,
        attention_by_transposes,
        attention_to_draw,
        attention_under_vmap,
    ],
    "self_attention": [
        self_by_linear,
        self_with_one_matrix_for_scores,
        self_sentence_by_sentence,
        self_with_stacked_weights,
    ],
    "attention_cost": [cost_in_powers, cost_by_counting_sizes, cost_in_floats],
    "crossover_length": [crossover_by_algebra, crossover_as_an_integer, crossover_by_search, crossover_by_division],
    "is_permutation_equivariant": [
        order_by_largest_difference,
        order_undone,
        order_by_index_select,
        order_as_numpy,
    ],
    "self_attention_task": [looks_up, asks_dictionaries],
}
