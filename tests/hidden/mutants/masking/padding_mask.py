"""Wrong answers to `padding_mask` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def places_first(lengths, max_len):
    return right.padding_mask(lengths, max_len).T


def equal_to_the_length(lengths, max_len):
    right.padding_mask(lengths, max_len)
    return torch.arange(max_len) == lengths[:, None]


def empty_sentences_see_one_word(lengths, max_len):
    return right.padding_mask(lengths.clamp(min=1), max_len)


def an_axis_more(lengths, max_len):
    return right.padding_mask(lengths, max_len)[:, None]


def full_sentences_refused(lengths, max_len):
    if (lengths >= max_len).any():
        raise ValueError("too long")
    return right.padding_mask(lengths, max_len)


def bytes_for_booleans(lengths, max_len):
    return right.padding_mask(lengths, max_len).to(torch.uint8)


def lengths_clamped_in_place(lengths, max_len):
    right.padding_mask(lengths, max_len)
    lengths.clamp_(min=1)
    return right.padding_mask(lengths, max_len)


MUTANTS = [
    places_first,
    equal_to_the_length,
    empty_sentences_see_one_word,
    an_axis_more,
    full_sentences_refused,
    bytes_for_booleans,
    lengths_clamped_in_place,
]
