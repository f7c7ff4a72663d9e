"""Right answers to `add_bitfit` that look nothing like the reference."""

from __future__ import annotations

from torch import nn


def bias_by_module(model):
    count = 0
    model.requires_grad_(False)
    for module in model.modules():
        bias = getattr(module, "bias", None)
        if isinstance(bias, nn.Parameter):
            bias.requires_grad_(True)
            count += bias.numel()
    return count


def bias_by_own_parameters(model):
    counts = []
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            parameter.requires_grad_(name == "bias")
            counts.append(parameter.numel() if name == "bias" else 0)
    return sum(counts)


ALTERNATIVES = [bias_by_module, bias_by_own_parameters]
