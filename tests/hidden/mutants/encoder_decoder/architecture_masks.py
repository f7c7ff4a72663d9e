"""Wrong answers to `architecture_masks` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import encoder_decoder as reference


def sentence_zero_for_all(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask[:1].expand_as(mask) for key, mask in masks.items()}


def additive(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else torch.where(mask, 0.0, -math.inf) for key, mask in masks.items()}


def no_axis_for_the_heads(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask.squeeze(1) for key, mask in masks.items()}


MUTANTS = [sentence_zero_for_all, additive, no_axis_for_the_heads]
