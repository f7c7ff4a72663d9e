"""Wrong answers to `add_bitfit` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import lora as reference


def bias_in_the_name(model):
    """The catalogue's: a relative bias is a table, and its weight no bias."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = "bias" in name
    return reference.trainable_parameters(model)[0]


def bias_without_norms(model):
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            parameter.requires_grad = name == "bias" and not isinstance(module, nn.LayerNorm)
    return reference.trainable_parameters(model)[0]


def bias_by_dimension(model):
    """Vectors are biases, says this one; a norm's weight is a vector as well."""
    for parameter in model.parameters():
        parameter.requires_grad = parameter.dim() == 1
    return reference.trainable_parameters(model)[0]


def bias_of_the_last_layer(model):
    names = [name for name, _ in model.named_parameters() if name.endswith("bias")]
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name == names[-1]
    return reference.trainable_parameters(model)[0]


def bias_without_a_count(model):
    reference.add_bitfit(model)


def bias_by_setting_grad(model):
    """Asks the layer, not its numbers: an attribute nobody reads."""
    for name, module in model.named_modules():
        module.requires_grad = name.endswith("bias")
    return reference.trainable_parameters(model)[0]


def bias_added_where_there_was_none(model):
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is None:
            module.bias = nn.Parameter(torch.zeros(module.out_features).to(module.weight))
    return reference.add_bitfit(model)


def bias_without_the_head(model):
    reference.add_bitfit(model)
    list(model.children())[-1].requires_grad_(False)
    return reference.trainable_parameters(model)[0]


def bias_as_it_came(model):
    """Freezes the rest, and frees nothing."""
    for name, parameter in model.named_parameters():
        if name.rpartition(".")[2] != "bias":
            parameter.requires_grad_(False)
    return reference.trainable_parameters(model)[0]


def bias_by_the_last_letters(model):
    """Takes a table `posbias` for a bias."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.endswith("bias")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


MUTANTS = [
    bias_by_the_last_letters,
    bias_in_the_name,
    bias_without_norms,
    bias_by_dimension,
    bias_of_the_last_layer,
    bias_without_a_count,
    bias_by_setting_grad,
    bias_added_where_there_was_none,
    bias_without_the_head,
    bias_as_it_came,
]
