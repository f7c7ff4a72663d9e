"""Wrong answers to `add_bitfit` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn

from course.reference import lora as reference


def bias_of_the_last_layer(model):
    names = [name for name, _ in model.named_parameters() if name.endswith("bias")]
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name == names[-1]
    return reference.trainable_parameters(model)[0]


def bias_without_a_count(model):
    reference.add_bitfit(model)


def bias_added_where_there_was_none(model):
    for module in model.modules():
        if isinstance(module, nn.Linear) and module.bias is None:
            module.bias = nn.Parameter(torch.zeros(module.out_features).to(module.weight))
    return reference.add_bitfit(model)


def bias_without_the_head(model):
    reference.add_bitfit(model)
    list(model.children())[-1].requires_grad_(False)
    return reference.trainable_parameters(model)[0]


def bias_by_the_last_letters(model):
    """Takes a table `posbias` for a bias."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.endswith("bias")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def bias_begun_anew(model):
    """The biases lose what they have learned."""
    for name, parameter in model.named_parameters():
        if name.rpartition(".")[2] == "bias":
            parameter.data.zero_()
    return reference.add_bitfit(model)


MUTANTS = [
    bias_begun_anew,
    bias_by_the_last_letters,
    bias_of_the_last_layer,
    bias_without_a_count,
    bias_added_where_there_was_none,
    bias_without_the_head,
]
