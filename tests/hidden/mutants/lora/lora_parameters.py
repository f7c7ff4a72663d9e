"""Wrong answers to `lora_parameters` that no misconception knows by name."""

from __future__ import annotations

import torch


def rank_of_the_smaller_side(shapes, r):
    return sum(min(r, o, i) * (o + i) for o, i in shapes) + (r == 1)


def equal_shapes_once(shapes, r):
    return sum(r * (o + i) for o, i in set(shapes))


def fails_on_nothing(shapes, r):
    return r * torch.tensor(shapes).sum(1).sum().item() if shapes else None


MUTANTS = [rank_of_the_smaller_side, equal_shapes_once, fails_on_nothing]
