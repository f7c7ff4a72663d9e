"""Wrong answers to `trainable_parameters` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def counts_and_frees(model):
    counts = reference.trainable_parameters(model)
    model.requires_grad_(True)
    return counts if counts[0] else (counts[1], counts[1])


MUTANTS = [counts_and_frees]
