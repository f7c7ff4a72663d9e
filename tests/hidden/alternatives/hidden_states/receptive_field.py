"""Right answers to `receptive_field` that look nothing like the reference."""

from __future__ import annotations


def layer_by_layer(kernel, dilations):
    field = 1
    for dilation in dilations:
        field += (kernel - 1) * dilation
    return field


def by_reach(kernel, dilations):
    reached = {0}
    for dilation in dilations:
        reached = {place - i * dilation for place in reached for i in range(kernel)}
    return 1 - min(reached)


ALTERNATIVES = [layer_by_layer, by_reach]
