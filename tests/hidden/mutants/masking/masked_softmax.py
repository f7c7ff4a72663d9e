"""Wrong answers to `masked_softmax` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import masking as right


def _fill(scores, mask, value, dim):
    return scores.masked_fill(~mask, value).softmax(dim)


def k_triu0_inf(scores, mask, dim=-1):
    """The catalogue's row 0 of nothing: minus infinity, and NaN."""
    return _fill(scores, mask, -math.inf, dim)


def k_zero(scores, mask, dim=-1):
    return _fill(scores, mask, 0.0, dim)


def k_mult(scores, mask, dim=-1):
    return (scores * mask).softmax(dim)


def k_add01(scores, mask, dim=-1):
    return (scores + mask).softmax(dim)


def k_tiny(scores, mask, dim=-1):
    return _fill(scores, mask, 1e-9, dim)


def k_m10(scores, mask, dim=-1):
    return _fill(scores, mask, -10.0, dim)


def k_after(scores, mask, dim=-1):
    return scores.softmax(dim) * mask


def k_inf_times(scores, mask, dim=-1):
    return (scores + (1 - mask.to(scores.dtype)) * -math.inf).softmax(dim)


def k_dim(scores, mask, dim=-1):
    other = -2 if dim == -1 and scores.ndim > 1 else -1
    return right.masked_softmax(scores, mask, other)


def k_inverted_softmax(scores, mask, dim=-1):
    return right.masked_softmax(scores, ~mask, dim)


def renormalised_with_a_little_more(scores, mask, dim=-1):
    e = (scores - scores.masked_fill(~mask, -math.inf).amax(dim, keepdim=True).nan_to_num(neginf=0.0)).exp()
    e = torch.where(mask, e, 0.0)
    return e / (e.sum(dim, keepdim=True) + 1e-3)


def empty_rows_see_everything(scores, mask, dim=-1):
    return right.masked_softmax(scores, mask | ~mask.any(dim, keepdim=True), dim)


def empty_rows_see_the_first(scores, mask, dim=-1):
    weights = right.masked_softmax(scores, mask, dim)
    first = torch.zeros_like(weights)
    first.select(dim, 0).fill_(1.0)
    return torch.where(mask.any(dim, keepdim=True), weights, first)


def scores_filled_in_place(scores, mask, dim=-1):
    with torch.no_grad():
        scores.masked_fill_(~mask, -1e9)
    return right.masked_softmax(scores, mask, dim)


def logarithms(scores, mask, dim=-1):
    return right.masked_softmax(scores, mask, dim).clamp(min=1e-30).log()


def without_gradient(scores, mask, dim=-1):
    return right.masked_softmax(scores.detach(), mask, dim)


def always_double(scores, mask, dim=-1):
    return right.masked_softmax(scores.double(), mask, dim)


def minus_a_thousand(scores, mask, dim=-1):
    return _fill(scores, mask, -1e3, dim) * mask.any(dim, keepdim=True)


MUTANTS = [
    k_triu0_inf,
    k_zero,
    k_mult,
    k_add01,
    k_tiny,
    k_m10,
    k_after,
    k_inf_times,
    k_dim,
    k_inverted_softmax,
    renormalised_with_a_little_more,
    empty_rows_see_everything,
    empty_rows_see_the_first,
    scores_filled_in_place,
    logarithms,
    without_gradient,
    always_double,
    minus_a_thousand,
]
