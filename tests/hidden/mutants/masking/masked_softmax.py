"""Wrong answers to `masked_softmax` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import masking as right


def always_double(scores, mask, dim=-1):
    return right.masked_softmax(scores.double(), mask, dim)


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


def empty_rows_of_the_last_axis(scores, mask, dim=-1):
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim)
    return weights.masked_fill(~mask.expand(scores.shape).any(-1, keepdim=True), 0.0)


MUTANTS = [
    always_double,
    maximum_over_everything,
    maximum_of_the_hidden,
    zero_taken_for_hidden,
    empty_rows_of_the_last_axis,
]
