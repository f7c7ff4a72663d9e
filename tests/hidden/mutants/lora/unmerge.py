"""Wrong answers to `unmerge` that no misconception knows by name."""

from __future__ import annotations

from torch import nn

from course.reference import lora as reference
from tests.hidden.mutants.lora.scaffold import with_weight


def unmerged_changes_the_layer(merged, layer):
    base = reference.unmerge(merged, layer)
    layer.base.weight.data.copy_(merged.weight.data)
    return base


def unmerged_into_the_layer(merged, layer):
    """The way back is written into the layer's own base."""
    base = reference.unmerge(merged, layer)
    layer.base.weight.data.copy_(base.weight.data)
    return base


def unmerged_with_the_layers_bias_doubled(merged, layer):
    base = reference.unmerge(merged, layer)
    if base.bias is not None:
        base.bias.data = base.bias.data + layer.base.bias.data
    return base


def unmerged_twice(merged, layer):
    return reference.unmerge(reference.unmerge(merged, layer), layer)


def unmerged_halfway(merged, layer):
    return with_weight(merged, (merged.weight + layer.base.weight) / 2)


def unmerged_upside_down(merged, layer):
    return with_weight(merged, merged.weight - layer.r / layer.alpha * layer.B @ layer.A)


def unmerged_with_the_base_bias(merged, layer):
    base = reference.unmerge(merged, layer)
    base.bias = layer.base.bias
    return base


def unmerge_with_the_same_bias(merged, layer):
    base = nn.Linear(merged.in_features, merged.out_features, bias=False)
    base.weight = nn.Parameter((merged.weight - layer.alpha / layer.r * layer.B @ layer.A).detach())
    base.bias = merged.bias
    return base


MUTANTS = [
    unmerge_with_the_same_bias,
    unmerged_changes_the_layer,
    unmerged_into_the_layer,
    unmerged_with_the_layers_bias_doubled,
    unmerged_twice,
    unmerged_halfway,
    unmerged_upside_down,
    unmerged_with_the_base_bias,
]
