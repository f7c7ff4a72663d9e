"""Right answers to `unmerge` that look nothing like the reference."""

from __future__ import annotations

import copy

import torch
from torch import nn

from tests.hidden.alternatives.lora.scaffold import merge_into_a_fresh_layer


def unmerge_into_a_fresh_layer(merged, layer):
    base = nn.Linear(merged.in_features, merged.out_features, merged.bias is not None, dtype=merged.weight.dtype)
    update = (layer.B * (layer.alpha / layer.r)) @ layer.A
    state = {**merged.state_dict(), "weight": merged.weight - update}
    base.load_state_dict(state)
    return base


def unmerge_by_merging_the_opposite(merged, layer):
    opposite = copy.deepcopy(layer)
    opposite.base = copy.deepcopy(merged)
    with torch.no_grad():
        opposite.B.neg_()
    return merge_into_a_fresh_layer(opposite)


def unmerge_with_a_bias_put_in_later(merged, layer):
    """A layer without a bias, which gets one of its own."""
    base = nn.Linear(merged.in_features, merged.out_features, bias=False)
    base.weight = nn.Parameter((merged.weight - layer.alpha / layer.r * layer.B @ layer.A).detach())
    base.bias = copy.deepcopy(merged.bias)
    return base


ALTERNATIVES = [unmerge_into_a_fresh_layer, unmerge_by_merging_the_opposite, unmerge_with_a_bias_put_in_later]
