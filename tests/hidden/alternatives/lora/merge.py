"""Right answers to `merge` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn

from tests.hidden.alternatives.lora.scaffold import merge_into_a_fresh_layer


def merge_that_may_learn(layer):
    """An ordinary layer, whose weight asks for a gradient."""
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, layer.base.bias is not None).double()
    update = sum(torch.outer(layer.B[:, i], layer.A[i]) for i in range(layer.r))
    state = layer.base.state_dict()
    merged.to(layer.base.weight).load_state_dict({**state, "weight": state["weight"] + update * layer.alpha / layer.r})
    return merged


def merge_with_a_frozen_weight(layer):
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, bias=False)
    update = torch.einsum("or,ri->oi", layer.B, layer.A) * layer.alpha / layer.r
    merged.weight = nn.Parameter((layer.base.weight + update).detach(), requires_grad=False)
    if layer.base.bias is not None:
        merged.bias = nn.Parameter(layer.base.bias.detach().clone(), requires_grad=False)
    return merged


ALTERNATIVES = [merge_into_a_fresh_layer, merge_that_may_learn, merge_with_a_frozen_weight]
