"""Wrong answers to `masked_softmax` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import masking as right


def _fill(scores, mask, value, dim):
    return scores.masked_fill(~mask, value).softmax(dim)


def k_add01(scores, mask, dim=-1):
    return (scores + mask).softmax(dim)


def k_m10(scores, mask, dim=-1):
    return _fill(scores, mask, -10.0, dim)


def k_dim(scores, mask, dim=-1):
    other = -2 if dim == -1 and scores.ndim > 1 else -1
    return right.masked_softmax(scores, mask, other)


def renormalised_with_a_little_more(scores, mask, dim=-1):
    e = (scores - scores.masked_fill(~mask, -math.inf).amax(dim, keepdim=True).nan_to_num(neginf=0.0)).exp()
    e = torch.where(mask, e, 0.0)
    return e / (e.sum(dim, keepdim=True) + 1e-3)


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


def maximum_over_everything(scores, mask, dim=-1):
    scores = scores.masked_fill(~mask, -math.inf)
    weights = (scores - scores.detach().max().clamp(min=-1e9)).exp()
    return weights / torch.where(mask.any(dim, keepdim=True), weights.sum(dim, keepdim=True), 1.0)


def maximum_of_the_hidden(scores, mask, dim=-1):
    e = (scores - scores.amax(dim, keepdim=True)).exp() * mask
    return e / e.sum(dim, keepdim=True).clamp(min=1e-300)


def zero_taken_for_hidden(scores, mask, dim=-1):
    kept = scores * mask
    return right.masked_softmax(kept, kept != 0, dim)


def always_the_last_axis(scores, mask, dim=-1):
    return right.masked_softmax(scores, mask)


def empty_rows_of_the_last_axis(scores, mask, dim=-1):
    weights = _fill(scores, mask, torch.finfo(scores.dtype).min, dim)
    return weights.masked_fill(~mask.expand(scores.shape).any(-1, keepdim=True), 0.0)


MUTANTS = [
    k_add01,
    k_m10,
    k_dim,
    renormalised_with_a_little_more,
    empty_rows_see_the_first,
    scores_filled_in_place,
    logarithms,
    without_gradient,
    always_double,
    minus_a_thousand,
    maximum_over_everything,
    maximum_of_the_hidden,
    zero_taken_for_hidden,
    always_the_last_axis,
    empty_rows_of_the_last_axis,
]
