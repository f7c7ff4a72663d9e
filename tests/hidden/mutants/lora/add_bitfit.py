"""Wrong answers to `add_bitfit` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def bias_by_the_last_letters(model):
    """Free every parameter whose name ends in `bias`, also a table `posbias`."""
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.endswith("bias")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def bias_begun_anew(model):
    """Set the biases to zero before they learn."""
    for name, parameter in model.named_parameters():
        if name.rpartition(".")[2] == "bias":
            parameter.data.zero_()
    return reference.add_bitfit(model)


MUTANTS = [bias_begun_anew, bias_by_the_last_letters]
