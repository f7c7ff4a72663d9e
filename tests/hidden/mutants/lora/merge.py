"""Wrong answers to `merge` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import lora as reference
from tests.hidden.mutants.lora.scaffold import _layer


def o_merge_noscale(layer):
    return _layer(layer.base, layer.base.weight + layer.B @ layer.A)


def o_merge_double(layer):
    """The update counts twice: merged, and still added."""
    return _layer(layer.base, layer.base.weight + 2 * layer.alpha / layer.r * layer.B @ layer.A)


def o_merge_twice(layer):
    layer.base.weight.data += layer.alpha / layer.r * layer.B @ layer.A
    return _layer(layer.base, layer.base.weight)


def merged_in_float32(layer):
    return reference.merge(layer).float()


def merged_rounded(layer):
    merged = reference.merge(layer)
    merged.weight.data = merged.weight.data.bfloat16().to(merged.weight.dtype)
    return merged


def merged_transposed_if_square(layer):
    update = layer.alpha / layer.r * layer.B @ layer.A
    square = update.shape[0] == update.shape[1]
    return _layer(layer.base, layer.base.weight + (update.T if square else update))


def merged_with_the_bias_scaled(layer):
    merged = reference.merge(layer)
    if merged.bias is not None:
        merged.bias.data = merged.bias.data * layer.alpha / layer.r
    return merged


def merged_sharing_its_weight(layer):
    """The numbers of the merged layer are the base's, put back at the end."""
    before = layer.base.weight.data.clone()
    merged = reference.merge(layer)
    layer.base.weight.data.copy_(merged.weight.data)
    merged.weight.data = layer.base.weight.data
    del before
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
    return _layer(layer.base, layer.base.weight + int(layer.alpha / layer.r) * layer.B @ layer.A)


def merged_strength_forgets_the_base(layer):
    scale = layer.alpha / layer.r
    return _layer(layer.base, scale * (layer.base.weight + layer.B @ layer.A))


def merge_with_the_same_bias(layer):
    """Whoever trains the merged layer moves the bias of the base."""
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, bias=False)
    merged.weight = nn.Parameter((layer.base.weight + layer.alpha / layer.r * layer.B @ layer.A).detach())
    merged.bias = layer.base.bias
    return merged


MUTANTS = [
    merge_with_the_same_bias,
    o_merge_noscale,
    o_merge_double,
    o_merge_twice,
    merged_in_float32,
    merged_rounded,
    merged_transposed_if_square,
    merged_with_the_bias_scaled,
    merged_sharing_its_weight,
    merged_into_the_layer,
    merged_always_with_a_bias,
    merged_whole_strength,
    merged_strength_forgets_the_base,
]
