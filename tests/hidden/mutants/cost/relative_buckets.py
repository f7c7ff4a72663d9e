"""Wrong answers to `relative_buckets`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import math

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def bucketed(distance, n_buckets=32, max_distance=128, bidirectional=True, exact=None, whole=torch.Tensor.long):
    """T5's rule with so many exact buckets, and this for whole numbers."""
    n = n_buckets // 2 if bidirectional else n_buckets
    first = (distance > 0).long() * n if bidirectional else 0
    far = distance.abs() if bidirectional else (-distance).clamp(min=0)
    e = exact or n // 2
    coarse = whole(e + (far.clamp(min=1) / e).log() / math.log(max_distance / e) * (n - e)).clamp(max=n - 1)
    return first + torch.where(far < e, far, coarse)


def one_number_at_a_time(distance, n_buckets=32, max_distance=128, bidirectional=True):
    n, far = n_buckets // 2, abs(distance)
    exact = n // 2
    if far < exact:
        bucket = far
    else:
        bucket = min(n - 1, exact + int(math.log(far / exact) / math.log(max_distance / exact) * (n - exact)))
    return bucket + n if distance > 0 else bucket


def not_whole(distance, *args, **kwargs):
    return bucketed(distance, *args, whole=lambda x: x, **kwargs)


def both_sides_always(distance, n_buckets=32, max_distance=128, bidirectional=True):
    return bucketed(distance, n_buckets, max_distance)


FIRST_ATTEMPTS = {
    one_number_at_a_time: "Boolean value of Tensor with more than one value is ambiguous",
    not_whole: "expected the dtype int64, got float32",
    both_sides_always: "looking back only",
}

# -- others ------------------------------------------------------------------------------------------------------------


def rounded_up(distance, *args, **kwargs):
    return bucketed(distance, *args, whole=lambda x: x.ceil().long(), **kwargs)


def rounded(distance, *args, **kwargs):
    return bucketed(distance, *args, whole=lambda x: x.round().long(), **kwargs)


def eight_exact_ones_always(distance, *args, **kwargs):
    return bucketed(distance, *args, exact=8, **kwargs)


MUTANTS = [rounded_up, rounded, eight_exact_ones_always]
