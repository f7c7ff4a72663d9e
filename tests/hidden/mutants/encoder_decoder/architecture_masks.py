"""Wrong answers to `architecture_masks` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import encoder_decoder as reference


def one_visible_pad(kind, src_lengths, tgt_lengths=None):
    """`<=` for `<`."""
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    places = torch.arange(int(src_lengths.max()))
    for key in ("encoder_self", "cross"):
        if masks[key] is not None:
            masks[key] = (places <= src_lengths[:, None])[:, None, None]
    return masks


def sentence_zero_for_all(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask[:1].expand_as(mask) for key, mask in masks.items()}


def one_step_ahead(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    if masks["decoder_self"] is not None:
        T = masks["decoder_self"].shape[-1]
        masks["decoder_self"] = torch.ones(T, T).tril(1).bool()
    return masks


def additive(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else torch.where(mask, 0.0, -math.inf) for key, mask in masks.items()}


def masks_for_all(kind, src_lengths, tgt_lengths=None):
    target = src_lengths if tgt_lengths is None else tgt_lengths
    return reference.architecture_masks("encoder-decoder", src_lengths, target)


def no_axis_for_the_heads(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask.squeeze(1) for key, mask in masks.items()}


MUTANTS = [
    one_visible_pad,
    sentence_zero_for_all,
    one_step_ahead,
    additive,
    masks_for_all,
    no_axis_for_the_heads,
]
