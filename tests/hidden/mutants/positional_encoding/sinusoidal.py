"""Wrong answers to `sinusoidal` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import positional_encoding as reference


def anew_after_1024(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model)[torch.arange(n_positions) % 1024]


MUTANTS = [anew_after_1024]
