"""Wrong answers to `alignment_error_rate` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import alignment_error_rate


def as_a_percentage(weights, gold, lengths):
    return 100 * alignment_error_rate(weights, gold, lengths)


def smallest_weight(weights, gold, lengths):
    return alignment_error_rate(-weights, gold, lengths)


def lengths_of_the_source(weights, gold, lengths):
    real = torch.arange(weights.shape[2]) < lengths[:, None]
    return alignment_error_rate(weights * real[:, None], gold, torch.full_like(lengths, gold.shape[1]))


def off_by_one(weights, gold, lengths):
    return alignment_error_rate(weights, gold + 1, lengths)


def only_the_first_sentence(weights, gold, lengths):
    return alignment_error_rate(weights[:1], gold[:1], lengths[:1])


def neighbours_count(weights, gold, lengths):
    real = torch.arange(gold.shape[1]) < lengths[:, None]
    near = (weights.argmax(-1) - gold).abs() <= 1
    return 1 - float((near & real).sum()) / float(real.sum())


MUTANTS = [
    as_a_percentage,
    smallest_weight,
    lengths_of_the_source,
    off_by_one,
    only_the_first_sentence,
    neighbours_count,
]
