"""Wrong answers to `masked_mean` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import masking as right


def mean_of_the_first_word(x, mask):
    return x[:, 0] * mask[:, :1]


def largest_of_the_real(x, mask):
    return x.masked_fill(~mask[..., None], -math.inf).amax(1).nan_to_num(neginf=0.0)


def divided_by_the_root(x, mask):
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1).sqrt()


def mean_over_the_width(x, mask):
    return (x * mask[..., None]).mean(-1)


def mean_without_gradient(x, mask):
    return right.masked_mean(x.detach(), mask)


def counts_of_the_batch_mean(x, mask):
    return (x * mask[..., None]).sum(1) / mask.sum(1).double().mean().clamp(min=1)


def x_zeroed_in_place(x, mask):
    with torch.no_grad():
        x[~mask] = 0.0
    return right.masked_mean(x, mask)


def as_many_from_the_front(x, mask):
    return right.masked_mean(x, torch.arange(x.shape[1]) < mask.sum(1, keepdim=True))


MUTANTS = [
    mean_of_the_first_word,
    largest_of_the_real,
    divided_by_the_root,
    mean_over_the_width,
    mean_without_gradient,
    counts_of_the_batch_mean,
    x_zeroed_in_place,
    as_many_from_the_front,
]
