"""Wrong answers to `merge` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import lora as reference


def merged_transposed_if_square(layer):
    merged = reference.merge(layer)
    if merged.in_features == merged.out_features:
        merged.weight.data = layer.base.weight.data + (merged.weight.data - layer.base.weight.data).T
    return merged


def merged_always_with_a_bias(layer):
    merged = reference.merge(layer)
    if merged.bias is None:
        merged.bias = nn.Parameter(torch.zeros_like(merged.weight[:, 0]))
    return merged


def merged_with_sizes_exchanged(layer):
    """Build the layer with its sizes exchanged, which works because the weight is replaced."""
    merged = reference.merge(layer)
    merged.in_features, merged.out_features = merged.out_features, merged.in_features
    return merged


MUTANTS = [merged_with_sizes_exchanged, merged_transposed_if_square, merged_always_with_a_bias]
