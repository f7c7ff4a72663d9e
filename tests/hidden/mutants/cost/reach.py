"""Wrong answers to `reach`: what a beginner writes first."""

from __future__ import annotations

import torch


def product_of_booleans(mask, layers):
    reached = mask
    for _ in range(layers - 1):
        reached = reached @ mask
    return reached


def each_entry_to_a_power(mask, layers):
    return mask.float() ** layers > 0


def ways_counted(mask, layers):
    return torch.linalg.matrix_power((mask | torch.eye(len(mask), dtype=torch.bool)).float(), layers)


FIRST_ATTEMPTS = {
    product_of_booleans: "not implemented for 'Bool'",
    each_entry_to_a_power: "the values are those of `mask`, unchanged",
    ways_counted: "expected the dtype bool, got float32",
}
