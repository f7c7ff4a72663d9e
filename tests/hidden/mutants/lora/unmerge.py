"""Wrong answers to `unmerge` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def unmerged_changes_the_layer(merged, layer):
    base = reference.unmerge(merged, layer)
    layer.base.weight.data.copy_(merged.weight.data)
    return base


def unmerge_with_the_same_bias(merged, layer):
    base = reference.unmerge(merged, layer)
    base.bias = merged.bias
    return base


MUTANTS = [unmerge_with_the_same_bias, unmerged_changes_the_layer]
