"""Wrong answers to `merge` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import lora as reference
from tests.hidden.mutants.lora.scaffold import with_weight


def merged_rounded(layer):
    merged = reference.merge(layer)
    merged.weight.data = merged.weight.data.bfloat16().to(merged.weight.dtype)
    return merged


def merged_transposed_if_square(layer):
    update = layer.alpha / layer.r * layer.B @ layer.A
    square = update.shape[0] == update.shape[1]
    return with_weight(layer.base, layer.base.weight + (update.T if square else update))


def merged_with_the_bias_scaled(layer):
    merged = reference.merge(layer)
    if merged.bias is not None:
        merged.bias.data = merged.bias.data * layer.alpha / layer.r
    return merged


def merged_into_the_layer(layer):
    """Gives the layer back, which has no weight of its own."""
    return layer


def merged_always_with_a_bias(layer):
    merged = nn.Linear(layer.base.in_features, layer.base.out_features).to(layer.base.weight)
    right = reference.merge(layer)
    merged.weight.data = right.weight.data
    merged.bias.data = torch.zeros_like(merged.bias) if right.bias is None else right.bias.data
    return merged


def merged_whole_strength(layer):
    return with_weight(layer.base, layer.base.weight + int(layer.alpha / layer.r) * layer.B @ layer.A)


def merged_with_sizes_exchanged(layer):
    """Built as (out, in); the weight that is put in makes it work all the same."""
    merged = reference.merge(layer)
    merged.in_features, merged.out_features = merged.out_features, merged.in_features
    return merged


MUTANTS = [
    merged_with_sizes_exchanged,
    merged_rounded,
    merged_transposed_if_square,
    merged_with_the_bias_scaled,
    merged_into_the_layer,
    merged_always_with_a_bias,
    merged_whole_strength,
]
